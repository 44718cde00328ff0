//! The request of a download, and its plan: which files of a run are saved, and under which names.

use std::{collections::BTreeSet, time::SystemTime};

use globset::GlobMatcher;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{FailedFile, transfer::DownloadTarget};
use crate::{
    call::Artifact,
    failure::{Code, Failure, Violation, quote},
    service::api::{
        Id,
        runs::{RunArtifactRef, RunDetail, RunPlayerDetail},
    },
    text::{composed, filled},
    tools::files::{compile_pattern, file_error, path_problem, shape_problem},
};

/// Prefix of a reference to a file (service.md 15).
const FILE_REF_PREFIX: &str = "artifact:";

/// Saves the files of a run locally: recordings, logs, screenshots, reports.
///
/// Files of several players are saved in `player-1/`, `player-2/` and so on. Returns `status: downloading` after 45 s:
/// repeat the same call to continue.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DownloadRunFiles {
    /// Run, or `<run>-<player>` for one player[[; from `tool:list_runs`]].
    pub run_id: Id,
    /// Directory below the files root; the files are saved in its subdirectory `<run>`.
    pub destination_dir: String,
    /// Single files. Not with `players` or `patterns`.
    pub files: Option<Vec<FileChoice>>,
    /// Numbers of players, from 1; default: all.
    #[schemars(inner(range(min = 1)))]
    pub players: Option<Vec<u64>>,
    /// Glob patterns such as `*.png` or `logs/**`.
    pub patterns: Option<Vec<String>>,
    /// Replaces existing files; default false.
    #[schemars(extend("default" = false))]
    pub overwrite: Option<bool>,
}

// A selected file.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FileChoice {
    /// Player `<run>-<player>`[[; `players[].id` of `tool:get_run`]].
    pub run_id: Id,
    /// As `artifact:<path>`[[; paths from `tool:list_run_artifacts`]].
    pub file_ref: String,
    /// Path below that subdirectory; default: its own.
    pub relative_path: Option<String>,
}

impl FileChoice {
    /// Returns the name that `file_ref` refers to.
    fn name(&self) -> Option<&str> {
        self.file_ref.strip_prefix(FILE_REF_PREFIX).filter(|name| !name.is_empty())
    }
}

impl DownloadRunFiles {
    /// Returns the compiled patterns.
    ///
    /// # Errors
    /// `invalid_arguments` with all invalid patterns and files.
    pub(super) fn check(&self, run: &str) -> Result<Vec<GlobMatcher>, Failure> {
        let (mut patterns, mut violations) = (Vec::new(), Vec::new());
        let mut add = |path: String, rule: String| violations.push(Violation::new(path, rule));

        for (place, pattern) in self.patterns.iter().flatten().enumerate() {
            match compile_pattern(pattern) {
                Ok(pattern) => patterns.push(pattern),
                Err(problem) => add(format!("patterns.{place}"), format!("is not a pattern: {problem}")),
            }
        }
        for (place, file) in self.files.iter().flatten().enumerate() {
            if !matches!(split_player_id(&file.run_id.0), (of, Some(_)) if of == run) {
                add(format!("files.{place}.run_id"), format!("must be the id of a player of `{run}`"));
            }
            if file.name().is_none() {
                add(format!("files.{place}.file_ref"), "must be `artifact:<path>`".to_owned());
            }
            if let Some(problem) = file.relative_path.as_deref().and_then(path_problem) {
                add(format!("files.{place}.relative_path"), format!("is not a valid name: it {problem}"));
            }
        }

        if violations.is_empty() {
            Ok(patterns)
        } else {
            Err(Failure::invalid_arguments("download_run_files", &violations))
        }
    }
}

/// The files of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunListing {
    pub(crate) run_id: String,
    pub(crate) state: String,
    pub(crate) players: Vec<ListedPlayer>,
}

/// A player of the run.
#[derive(Clone, Debug)]
pub(crate) struct ListedPlayer {
    /// `<run>-<player>`
    pub(crate) id: String,
    /// Number of the player, from 1.
    pub(crate) number: u64,
    pub(crate) files: Vec<RunArtifactRef>,
}

impl RunListing {
    /// Creates the list from the full record of a run.
    pub(crate) fn from_run(run_id: &str, run: RunDetail) -> Self {
        let players = (1..).zip(run.players);

        Self {
            run_id: run_id.to_owned(),
            state: run.head.state,
            players: players.map(|(position, player)| ListedPlayer::new(run_id, position, player)).collect(),
        }
    }
}

impl ListedPlayer {
    /// Reads the player at `position`, counted from 1. Records of old runs have neither id nor number.
    fn new(run_id: &str, position: u64, player: RunPlayerDetail) -> Self {
        let number = player.player.player_number.and_then(|number| u64::try_from(number).ok());
        let number = number.unwrap_or(position);
        let id = filled(&player.player.id).unwrap_or_else(|| format!("{run_id}-{number}"));
        // A file without a name stays in the list with an empty one, which is refused.
        let files = player.artifacts.unwrap_or_default().into_iter().map(Option::unwrap_or_default);

        Self { id, number, files: files.collect() }
    }
}

/// The plan of a download.
#[derive(Debug, Default)]
pub(super) struct DownloadPlan {
    pub(super) files: Vec<PlannedFile>,
    /// Requested files that cannot be saved.
    pub(super) failed: Vec<FailedFile>,
    /// Local names of the files in lower case and with composed characters, because some file systems ignore the
    /// difference.
    taken_names: BTreeSet<String>,
    project: Option<String>,
}

/// A file that is to be saved.
#[derive(Clone, Debug)]
pub(super) struct PlannedFile {
    pub(super) artifact: Artifact,
    pub(super) target: DownloadTarget,
}

impl DownloadPlan {
    /// Plans the files of a run of `project` that `request` asks for. `patterns` are its compiled patterns.
    ///
    /// # Errors
    /// `not_found` if the run does not have a requested player.
    pub(super) fn new(
        project: Option<String>,
        request: &DownloadRunFiles,
        patterns: &[GlobMatcher],
        listing: &RunListing,
    ) -> Result<Self, Failure> {
        let (_, single_player) = split_player_id(&request.run_id.0);
        let numbers = single_player.map(|number| vec![number]).or_else(|| request.players.clone());
        let is_listed = |number: &u64| listing.players.iter().any(|player| player.number == *number);
        if let Some(missing) = numbers.iter().flatten().find(|number| !is_listed(number)) {
            return Err(no_player(*missing, listing));
        }

        // The files of several players may have equal names.
        let has_directories = single_player.is_none() && listing.players.len() > 1;
        let default_path = |player: &ListedPlayer, name: &str| {
            if has_directories { format!("player-{}/{name}", player.number) } else { name.to_owned() }
        };

        let mut plan = Self { project, ..Self::default() };
        for requested in request.files.iter().flatten() {
            let (run_id, name) = (&requested.run_id.0, requested.name().unwrap_or_default());
            let Some((player, file)) = find_file(listing, run_id, name) else {
                plan.failed.push(FailedFile::new(run_id, name, not_listed(name)));
                continue;
            };
            let path = requested.relative_path.clone();
            plan.add(player, file, path.unwrap_or_else(|| default_path(player, name)));
        }

        if request.files.is_none() {
            let is_match = |file: &&RunArtifactRef| {
                request.patterns.is_none() || patterns.iter().any(|pattern| pattern.is_match(&file.filename))
            };
            let is_requested = |player: &&ListedPlayer| {
                numbers.as_ref().is_none_or(|numbers| numbers.contains(&player.number))
            };
            for player in listing.players.iter().filter(is_requested) {
                for file in player.files.iter().filter(is_match) {
                    plan.add(player, file, default_path(player, &file.filename));
                }
            }
        }

        Ok(plan)
    }

    /// Adds a file with the local name `path`, if it can have that name.
    fn add(&mut self, player: &ListedPlayer, file: &RunArtifactRef, path: String) {
        // The remote name becomes a part of an address, and the local name a part of a path.
        let name = &file.filename;
        let refused = shape_problem(name).or_else(|| path_problem(&path));
        let failure = if let Some(problem) = refused {
            file_error(name, &format!("is refused: the name {problem}"))
        } else if !self.taken_names.insert(composed(&path).to_lowercase()) {
            file_error(&path, "is the name of another file of this run")
        } else {
            let artifact = Artifact {
                project: self.project.clone(),
                run_id: player.id.clone(),
                filename: name.clone(),
                url: filled(&file.url),
            };
            let uploaded = file.uploaded_at.parse::<Timestamp>().ok();
            let modified = uploaded.and_then(|at| SystemTime::try_from(at).ok());
            let target = DownloadTarget { path, size: file.size, modified };
            return self.files.push(PlannedFile { artifact, target });
        };

        self.failed.push(FailedFile::new(&player.id, name, failure));
    }
}

fn find_file<'a>(
    listing: &'a RunListing,
    run_id: &str,
    name: &str,
) -> Option<(&'a ListedPlayer, &'a RunArtifactRef)> {
    let player = listing.players.iter().find(|player| player.id == run_id)?;
    Some((player, player.files.iter().find(|file| file.filename == name)?))
}

fn no_player(missing: u64, listing: &RunListing) -> Failure {
    let existing: Vec<_> = listing.players.iter().map(|player| player.number).collect();
    let message = format!("run `{}` has no player {missing}", listing.run_id);
    Failure::new(Code::NotFound, message).hint("see `details.players`").detail("players", existing)
}

fn not_listed(name: &str) -> Failure {
    let message = format!("`{}` is not among the files of that player", quote(name));
    Failure::new(Code::NotFound, message).hint("list the files with `tool:list_run_artifacts`")
}

pub(super) fn file_ref(name: &str) -> String {
    format!("{FILE_REF_PREFIX}{name}")
}

/// Splits the id of a player into the id of its run and the number of the player. The id of a run has no number.
pub(crate) fn split_player_id(id: &str) -> (&str, Option<u64>) {
    let parts = id.rsplit_once('-').and_then(|(run, player)| Some((run, player.parse().ok()?)));
    parts.filter(|(run, _)| !run.is_empty()).map_or((id, None), |(run, player)| (run, Some(player)))
}
