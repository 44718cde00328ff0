//! What a run does at a moment (supplement 2.5).

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use http::StatusCode;
use image::{GrayImage, ImageFormat, Luma};
use serde_json::json;

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    attempt::{Progress, StepSpan},
    clock::{Millis, Moment},
    jobs::Seat,
    runs::Seen,
    tests::Step,
};
use crate::service::api::{
    Open,
    live::{AgentStep, GetLiveRun, LivePlayer, LiveRun, LiveTest, Screenshot},
};

/// How long a turn of an agent takes.
const TURN: Millis = 5_000;

/// Width and height of a phone's screenshot.
const UPRIGHT: (u32, u32) = (720, 1_280);

/// Width and height of any other screenshot: wider than what hosts are given.
const WIDE: (u32, u32) = (1_920, 1_080);

impl Answer<GetLiveRun> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(&mut self, asked: GetLiveRun, caller: &Caller) -> Result<Answered<LiveRun>, Fault> {
        let (project, now) = (self.project(caller)?, self.now);
        let (job, attempt) = project.run(&asked.run_id.0, now)?;
        let seen = Seen { project, job, attempt: &attempt, now };
        let players = job.test.players.iter().zip(&attempt.players).enumerate();
        let with_screenshot = asked.include_screenshot.unwrap_or(true);
        let players =
            players.map(|(index, (player, spans))| seen.live(index, &player.steps, spans, with_screenshot));

        Ok(LiveRun {
            multiplayer_run_id: attempt.id.clone(),
            state: project.dialect.state(seen.progress().name()),
            test: Some(LiveTest { id: job.test.id.clone(), name: job.test.name.clone() }),
            players: players.collect::<Result<_, _>>()?,
        }
        .into())
    }
}

impl Seen<'_> {
    /// A player. What is on the screen ends with the run; what the agent did last stays.
    fn live(
        &self,
        index: usize,
        steps: &[Step],
        spans: &[StepSpan],
        with_screenshot: bool,
    ) -> Result<LivePlayer, Fault> {
        let id = format!("{}-{}", self.attempt.id, index + 1);
        let is_live = self.progress() == Progress::Running;
        let current = spans.iter().position(|span| span.progress(self.now) == Progress::Running);
        let current = current.filter(|_| is_live);
        let seat = self.job.seats.get(index);
        let screenshot = is_live && with_screenshot;

        Ok(LivePlayer {
            player_number: index,
            current_run_id: is_live.then(|| id.clone()),
            composite_run_id: id,
            current_step: current.map(|step| json!(step + 1)),
            game_state: current.and_then(|step| self.game_state(seat?, steps.get(step)?, spans.get(step)?)),
            screenshot: screenshot.then(|| screenshot_of(seat, self.done(spans), spans.len())).transpose()?,
            last_agent_step: self.last_turn(spans),
        })
    }

    /// Only a build with the service's SDK tells it.
    fn game_state(&self, seat: &Seat, step: &Step, span: &StepSpan) -> Option<Open> {
        let begun = span.start.filter(|_| seat.build.as_ref().is_some_and(|build| build.sdk))?;
        let state = [("objective", json!(step.goal)), ("elapsed_ms", json!(self.now - begun))];
        Some(state.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
    }

    fn done(&self, spans: &[StepSpan]) -> usize {
        spans.iter().filter(|span| span.progress(self.now) == Progress::Completed).count()
    }

    fn last_turn(&self, spans: &[StepSpan]) -> Option<AgentStep> {
        let begun = spans.iter().find_map(|span| span.start).filter(|at| *at <= self.now)?;
        let carried_out = spans.iter().filter(|span| span.start.is_some());
        let over: Moment = carried_out.filter_map(|span| span.end).max()?;
        let turn = (self.now.min(over) - begun) / TURN;

        Some(AgentStep {
            agent: json!("player"),
            step: json!(turn),
            save_data: json!({}),
            start_time: json!((begun + turn * TURN).to_string()),
        })
    }
}

/// The screen of a device: a bar that grows with the steps.
fn screenshot_of(seat: Option<&Seat>, done: usize, steps: usize) -> Result<Screenshot, Fault> {
    let is_phone = seat.is_some_and(|seat| matches!(seat.config.kind.as_str(), "android" | "ios"));
    let (width, height) = if is_phone { UPRIGHT } else { WIDE };
    let [done, steps] = [done, steps].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let bar = width * done / steps.max(1);
    let screen =
        GrayImage::from_fn(width, height, |x, y| Luma([if x < bar && y > height / 2 { 220 } else { 40 }]));
    let mut file = Cursor::new(Vec::new());

    screen
        .write_to(&mut file, ImageFormat::Png)
        .map_err(|error| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;

    Ok(Screenshot {
        data: BASE64_STANDARD.encode(file.into_inner()),
        mime_type: ImageFormat::Png.to_mime_type().to_owned(),
        encoding: "base64".to_owned(),
    })
}
