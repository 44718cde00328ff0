//! Files that the players of a run leave behind, on the knowledge host (supplement 12).

use std::fmt::Write;

use axum::body::Bytes;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    attempt::StepSpan,
    files::{self, Content, File},
    ids::{etag, hash},
    png, presigned,
    project::Project,
    runs::{NOT_FOUND, Seen},
    storage,
    tests::Step,
};
use crate::service::api::{
    artifacts::{ArtifactListing, ArtifactPart, GetRunArtifact, ListRunArtifacts, RunArtifact},
    runs::{RunArtifactRef, RunPlayer},
};

/// The text of the service for a file that it does not know.
const NO_FILE: &str = "artifact not found";

/// How often a player does something, in milliseconds.
const TURN: i64 = 200;

/// How long the address of a large file is valid, in seconds.
const VALIDITY_S: u32 = 60 * 60;

/// Type of the files that storage serves in place of the knowledge host.
const LARGE: &str = "video/mp4";

impl Seen<'_> {
    /// What a player has left: nothing before the run is completed.
    fn files(&self, player: &RunPlayer, steps: &[Step], spans: &[StepSpan]) -> Vec<File> {
        if !self.is_done() {
            return Vec::new();
        }

        let number = hash(&[&player.id]);
        let [red, green, blue, ..] = number.to_le_bytes();
        let whole = |bytes: Vec<u8>| Content::Whole(Bytes::from(bytes));
        let report = json!({
            "player": player.id, "test": self.job.test.name, "result": player.result,
            "steps": self.steps(steps, spans),
        });
        let files = [
            ("recording.mp4", LARGE, Content::Derived { number, size: 300_000 + number % 100_000 }),
            ("agent.log", "text/plain; charset=utf-8", whole(self.log(player, steps, spans).into_bytes())),
            ("deliverables/report.json", "application/json", whole(format!("{report:#}\n").into_bytes())),
            ("screenshots/end.png", "image/png", whole(png::picture(96, 54, [red, green, blue]))),
        ];

        let file = |(name, content_type, content)| {
            let etag = etag(self.project.dialect, &[&player.id, name]);
            File { name, content_type, etag, content }
        };

        files.map(file).into()
    }

    /// What a player did, turn by turn.
    fn log(&self, player: &RunPlayer, steps: &[Step], spans: &[StepSpan]) -> String {
        let mut log = format!("{} {} plays “{}”\n", self.attempt.created, player.id, self.job.test.name);
        let mut say = |line: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            writeln!(log, "{line}").unwrap_or_default();
        };

        for (number, (step, span)) in (1..).zip(steps.iter().zip(spans)) {
            let (Some(start), Some(end)) = (span.start, span.end) else { continue };
            say(format_args!("{start} step {number}: {}", step.goal));

            for turn in 1..=(end - start) / TURN {
                let seen = hash(&[&player.id, &step.id, &turn.to_string()]);
                say(format_args!(
                    "{number}.{turn} looked at screen {seen:016x} … tapped, waited, looked again"
                ));
            }

            say(format_args!(
                "{end} step {number} ended: {}",
                span.ending.map_or("-", |ending| ending.name())
            ));
        }

        say(format_args!("{} result: {}", self.attempt.ended, player.result.as_deref().unwrap_or("-")));

        log
    }

    /// The files of a player as its run shows them.
    pub(super) fn artifacts(
        &self,
        player: &RunPlayer,
        steps: &[Step],
        spans: &[StepSpan],
        knowledge_url: &str,
    ) -> Vec<RunArtifactRef> {
        let shown = |file: File| RunArtifactRef {
            filename: file.name.to_owned(),
            url: url(knowledge_url, &player.id, file.name),
            size: file.content.size(),
            uploaded_at: self.attempt.ended.to_string(),
        };
        self.files(player, steps, spans).into_iter().map(shown).collect()
    }
}

fn url(knowledge_url: &str, player: &str, name: &str) -> String {
    format!("{knowledge_url}/runs/{player}/artifacts/{name}")
}

impl World {
    /// The files of the player of that id, and when they were uploaded.
    fn files_of(&self, project: &Project, player: &str) -> Result<(Vec<File>, String), Fault> {
        let not_found = || Fault::not_found(NOT_FOUND);
        let (run, _) = player.rsplit_once('-').ok_or_else(not_found)?;
        let (job, attempt) = project.run(run, self.now)?;
        let seen = Seen { project, job, attempt: &attempt, now: self.now };
        let files = |one: RunPlayer, steps: &[Step], spans: &[StepSpan]| {
            (one.id == player).then(|| seen.files(&one, steps, spans))
        };
        let files = seen.players(files).into_iter().flatten().next().ok_or_else(not_found)?;

        Ok((files, attempt.ended.to_string()))
    }

    /// A file of a player, whatever its project.
    pub(super) fn file(&self, player: &str, name: &str) -> Option<File> {
        let project = self.project_with_run(player)?;
        let (files, _) = self.files_of(self.projects().get(&project)?, player).ok()?;
        files.into_iter().find(|file| file.name == name)
    }
}

impl Answer<ListRunArtifacts> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(
        &mut self,
        asked: ListRunArtifacts,
        caller: &Caller,
    ) -> Result<Answered<ArtifactListing>, Fault> {
        let player = asked.run_id.0;
        let (files, uploaded) = self.files_of(self.project(caller)?, &player)?;
        let shown = |file: File| RunArtifact {
            filename: file.name.to_owned(),
            url: url(&self.knowledge_url, &player, file.name),
            size: file.content.size(),
            uploaded: uploaded.clone(),
            etag: file.etag,
        };

        let artifacts: Vec<_> = files.into_iter().map(shown).collect();
        // Without artifacts the service leaves these out.
        let count = Some(artifacts.len()).filter(|count| *count > 0);

        Ok(ArtifactListing { run_id: count.map(|_| player), count, artifacts }.into())
    }
}

impl Answer<GetRunArtifact> for World {
    const INVALID: Invalid = Invalid::NotFound(NO_FILE);

    fn answer(&mut self, asked: GetRunArtifact, caller: &Caller) -> Result<Answered<ArtifactPart>, Fault> {
        let (files, _) = self.files_of(self.project(caller)?, &asked.run_id.0)?;
        let file = files.into_iter().find(|file| file.name == asked.filename.0);
        let file = file.ok_or_else(|| Fault::not_found(NO_FILE))?;
        if file.content_type != LARGE || files::is_known(&file, &caller.conditions) {
            return Ok(Answered::file(file.answer(&caller.conditions)));
        }

        let path = format!("{}/artifacts/{}/{}", storage::PREFIX, asked.run_id.0, file.name);
        let address = presigned::sign(&format!("{}{path}", self.knowledge_url), self.now, VALIDITY_S);
        let location = HeaderValue::from_str(&address)
            .map_err(|error| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;

        Ok(Answered::redirect(StatusCode::FOUND, location))
    }
}
