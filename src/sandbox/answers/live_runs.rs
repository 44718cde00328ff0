//! The current state of runs (service.md 2.5), and the pictures of screens. A bar in the lower half of a picture shows how many steps
//! are done.

use std::io::Cursor;
use std::sync::LazyLock;

use axum::body::Bytes;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::{GrayImage, ImageFormat, Luma};
use serde_json::json;

use super::prelude::*;
use super::runs::{RunView, find_run};
use crate::sandbox::model::job::{PlayerDevice, StepSpan};
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
            data: BASE64_STANDARD.encode(screen(is_phone, completed, spans.len())),
            mime_type: "image/png".to_owned(),
            encoding: "base64".to_owned(),
        }
    }
}

const PHONE_SCREEN: (u32, u32) = (720, 1_280);

/// Width and height of any other screen. Its pictures exceed the size limit for hosts, so that they are scaled down.
const WIDE_SCREEN: (u32, u32) = (1_920, 1_080);

const BAR: u8 = 220;
const BACKGROUND: u8 = 40;

/// The screenshot at the end of a run, and the one of a failed step. All runs share them.
pub(super) static END: LazyLock<Bytes> = LazyLock::new(|| progress((96, 54), 1, 1).into());
pub(super) static FAILED_STEP: LazyLock<Bytes> = LazyLock::new(|| progress((576, 324), 1, 2).into());

pub(super) fn screen(is_phone: bool, done: usize, total: usize) -> Vec<u8> {
    progress(if is_phone { PHONE_SCREEN } else { WIDE_SCREEN }, done, total)
}

fn progress((width, height): (u32, u32), done: usize, total: usize) -> Vec<u8> {
    let [done, total] = [done, total].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let bar = width.saturating_mul(done) / total.max(1);
    let screen = GrayImage::from_fn(width, height, |x, y| {
        let is_bar = x < bar && y > height / 2;
        Luma([if is_bar { BAR } else { BACKGROUND }])
    });

    let mut file = Cursor::new(Vec::new());
    // Writing to memory does not fail, and PNG has this colour type.
    screen.write_to(&mut file, ImageFormat::Png).unwrap_or_default();
    file.into_inner()
}
