//! The current state of runs (service.md 2.5).

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;

use super::picture;
use super::prelude::*;
use super::run_view::{RunView, find_run};
use crate::sandbox::model::job::PlayerDevice;
use crate::sandbox::model::timeline::StepSpan;
use crate::service::api::runs::{GetLiveRun, LivePlayer, LiveRun, LiveTest, Screenshot};

impl Answer<GetLiveRun> for World {
    fn answer(&mut self, request: GetLiveRun, caller: &Caller) -> AnswerResult<LiveRun> {
        let (project, now) = (self.project(caller)?, self.now);
        let (job, attempt) = find_run(project, &request.run_id.0, now)?;
        let view = RunView { project, job, attempt: &attempt, now };

        let with_screenshot = request.include_screenshot.unwrap_or(true);
        let players = attempt.players.iter().enumerate();
        let players = players.map(|(index, spans)| view.live_player(index, spans, with_screenshot));

        Ok(LiveRun {
            multiplayer_run_id: attempt.id.clone(),
            state: wire_name(view.progress()),
            test: Some(LiveTest { id: job.test.id.clone(), name: job.test.name.clone() }),
            players: players.collect(),
        }
        .into())
    }
}

impl RunView<'_> {
    /// Returns the live state of a player. A completed run has no screenshot.
    fn live_player(&self, index: usize, spans: &[StepSpan], with_screenshot: bool) -> LivePlayer {
        let id = format!("{}-{}", self.attempt.id, index + 1);
        let is_live = self.progress() == RunProgress::Running;
        let running_step = spans.iter().position(|span| span.progress(self.now) == RunProgress::Running);
        let running_step = running_step.filter(|_| is_live);
        let device = self.job.player_devices.get(index);

        LivePlayer {
            // From 0 here; the composite id counts from 1 (service.md 1.8).
            player_number: index,
            current_run_id: is_live.then(|| id.clone()),
            composite_run_id: id,
            current_step: running_step.map(|step| json!(step + 1)),
            // What a game reports, and what an agent keeps, is open (service.md 2.5).
            game_state: None,
            last_agent_step: None,
            screenshot: (is_live && with_screenshot).then(|| self.screenshot(device, spans)),
        }
    }

    /// Returns the screen of a device, which shows how many steps are completed.
    fn screenshot(&self, device: Option<&PlayerDevice>, spans: &[StepSpan]) -> Screenshot {
        let is_phone = device.is_some_and(|device| device.config.is_mobile());
        let completed = spans.iter().filter(|span| span.progress(self.now) == RunProgress::Completed).count();

        Screenshot {
            data: BASE64_STANDARD.encode(picture::screen(is_phone, completed, spans.len())),
            mime_type: "image/png".to_owned(),
            encoding: "base64".to_owned(),
        }
    }
}
