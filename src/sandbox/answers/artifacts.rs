//! Artifacts of runs, on the knowledge host (service.md 12). They are derived from the run and never stored.

use std::{fmt::Write as _, sync::LazyLock};

use axum::{body::Bytes, http::StatusCode};
use serde_json::json;

use super::files::{self, ArtifactFile, STORAGE_PREFIX};
use super::live_runs::{END, FAILED_STEP};
use super::prelude::*;
use super::runs::{RUN_NOT_FOUND, RunView, find_run};
use crate::sandbox::model::job::StepSpan;
use crate::sandbox::model::records::{etag, hash};
use crate::sandbox::model::saved_test::ScriptedStep;
use crate::service::api::files::{
    ArtifactListing, ArtifactPart, GetRunArtifact, ListRunArtifacts, RunArtifact,
};
use crate::service::api::runs::{RunArtifactRef, RunPlayer};

const NOT_FOUND: &str = "artifact not found";

/// How long the address of a large file is valid, in seconds.
const VALIDITY_S: u32 = 60 * 60;

const TURN: Millis = 200;

/// Content type of the files for which the knowledge host redirects to the storage host.
const STORAGE_TYPE: &str = "video/mp4";

/// A drawn scene of twelve seconds in H.264. Players of videos ignore the bytes that follow: they are the content of its last
/// box, a `free` box that reaches to the end of the file. They let users try the download of a long file.
static RECORDING: LazyLock<Bytes> = LazyLock::new(|| {
    let padding = (0..40_000_u32).flat_map(u32::to_le_bytes);
    let padding = padding.chain((0..40_000).flat_map(|number: u32| number.to_be_bytes()));
    include_bytes!("recording.mp4").iter().copied().chain(padding).collect()
});

impl Answer<ListRunArtifacts> for World {
    fn answer(&mut self, request: ListRunArtifacts, caller: &Caller) -> AnswerResult<ArtifactListing> {
        let player = request.run_id.0;
        let (files, uploaded) = self.player_files(self.project(caller)?, &player)?;
        let record = |file: ArtifactFile| RunArtifact {
            url: artifact_url(&self.knowledge_url, &player, &file.name),
            size: file.size(),
            filename: file.name,
            uploaded: uploaded.clone(),
            etag: file.etag,
        };

        let artifacts: Vec<_> = files.into_iter().map(record).collect();
        // The service omits the run id and the count if there are no artifacts (service.md 1.7).
        let count = Some(artifacts.len()).filter(|count| *count > 0);

        Ok(ArtifactListing { run_id: count.map(|_| player), count, artifacts }.into())
    }
}

impl Answer<GetRunArtifact> for World {
    fn answer(&mut self, request: GetRunArtifact, caller: &Caller) -> AnswerResult<ArtifactPart> {
        let (files, _) = self.player_files(self.project(caller)?, &request.run_id.0)?;
        let file = files.into_iter().find(|file| file.name == request.filename.0);
        let file = file.ok_or_else(|| ApiError::not_found(NOT_FOUND))?;

        if file.content_type != STORAGE_TYPE {
            return Ok(Answered::file(file.read(&caller.conditions)));
        }

        // Large media are a redirect to a presigned address (service.md 12.2).
        let path = format!("{STORAGE_PREFIX}/artifacts/{}/{}", request.run_id.0, file.name);
        let address = files::sign(&format!("{}{path}", self.knowledge_url), self.now, VALIDITY_S);
        Answered::redirect(StatusCode::FOUND, &address)
    }
}

impl RunView<'_> {
    /// Returns the files of a player. There are none before the run is completed.
    fn files(&self, player: &RunPlayer, steps: &[ScriptedStep], spans: &[StepSpan]) -> Vec<ArtifactFile> {
        if !self.is_completed() {
            return Vec::new();
        }

        let report = json!({
            "player": player.id, "test": self.job.test.name, "result": player.result,
            "steps": self.step_records(steps, spans),
        });
        let screenshot = step_screenshot(spans);
        let of_failed_step = screenshot.as_deref().map(|name| (name, "image/png", FAILED_STEP.clone()));
        let files = [
            ("recording.mp4", STORAGE_TYPE, RECORDING.clone()),
            ("agent.log", "text/plain; charset=utf-8", self.log(player, steps, spans).into()),
            ("deliverables/report.json", "application/json", format!("{report:#}\n").into()),
            ("screenshots/end.png", "image/png", END.clone()),
        ];
        let with_etag = |(name, content_type, content)| {
            let etag = etag(&[&player.id, name]);
            ArtifactFile { name: name.to_owned(), content_type, etag, content }
        };

        files.into_iter().chain(of_failed_step).map(with_etag).collect()
    }

    /// Returns the log of a player: each step with its turns, and the result.
    fn log(&self, player: &RunPlayer, steps: &[ScriptedStep], spans: &[StepSpan]) -> String {
        let mut log = format!("{} {} plays “{}”\n", self.attempt.created, player.id, self.job.test.name);
        let mut write_line = |line: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            writeln!(log, "{line}").unwrap_or_default();
        };

        for (number, (step, span)) in (1..).zip(steps.iter().zip(spans)) {
            let (Some(start), Some(end)) = (span.start, span.end) else { continue };
            write_line(format_args!("{start} step {number}: {}", step.goal));

            for turn in 1..=(end - start) / TURN {
                let screen = hash(&[&player.id, &step.id, &turn.to_string()]);
                write_line(format_args!(
                    "{number}.{turn} looked at screen {screen:016x} … tapped, waited, looked again"
                ));
            }

            let result = span.result.map_or("-".to_owned(), wire_name);
            write_line(format_args!("{end} step {number} ended: {result}"));
        }

        let result = player.result.as_deref().unwrap_or("-");
        write_line(format_args!("{} result: {result}", self.attempt.ended));

        log
    }

    pub(super) fn artifact_refs(
        &self,
        player: &RunPlayer,
        steps: &[ScriptedStep],
        spans: &[StepSpan],
        knowledge_url: &str,
    ) -> Vec<Option<RunArtifactRef>> {
        let reference = |file: ArtifactFile| {
            Some(RunArtifactRef {
                url: artifact_url(knowledge_url, &player.id, &file.name),
                size: Some(file.size()),
                filename: file.name,
                uploaded_at: self.attempt.ended.to_string(),
            })
        };

        self.files(player, steps, spans).into_iter().map(reference).collect()
    }
}

/// Returns the name of the screenshot of the step that did not pass, if there is one.
fn step_screenshot(spans: &[StepSpan]) -> Option<String> {
    let has_failed = |span: &StepSpan| {
        span.result.is_some_and(|result| !matches!(result, RunResult::Success | RunResult::Skipped))
    };
    spans.iter().position(has_failed).map(|index| format!("screenshots/step-{}.png", index + 1))
}

fn artifact_url(knowledge_url: &str, player: &str, name: &str) -> String {
    format!("{knowledge_url}/runs/{player}/artifacts/{name}")
}

impl World {
    /// Returns the files of the player with the id `player`, and when they were uploaded.
    fn player_files(&self, project: &Project, player: &str) -> Result<(Vec<ArtifactFile>, String), ApiError> {
        let not_found = || ApiError::not_found(RUN_NOT_FOUND);
        let (run, _) = player.rsplit_once('-').ok_or_else(not_found)?;
        let (job, attempt) = find_run(project, run, self.now)?;
        let view = RunView { project, job, attempt: &attempt, now: self.now };

        let files_if_player = |record: RunPlayer, steps: &[ScriptedStep], spans: &[StepSpan]| {
            (record.id == player).then(|| view.files(&record, steps, spans))
        };
        let files = view.map_players(files_if_player).into_iter().flatten().next().ok_or_else(not_found)?;

        Ok((files, attempt.ended.to_string()))
    }

    /// Returns a file of a player of any project.
    pub(crate) fn artifact_file(&self, player: &str, name: &str) -> Option<ArtifactFile> {
        let project = self.project_with_run(player)?;
        let (files, _) = self.player_files(self.projects.get(&project)?, player).ok()?;
        files.into_iter().find(|file| file.name == name)
    }
}
