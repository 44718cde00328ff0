//! The plan of a download: which files of a run are saved, and under which names.

use std::{collections::BTreeSet, time::SystemTime};

use jiff::Timestamp;

use super::{DownloadRequest, FailedFile, RequestedFile, transfer::DownloadTarget};
use crate::{
    call::{Artifact, Caller},
    failure::{Code, Failure, quote},
    service::api::{
        Id,
        runs::{GetRun, RunArtifactRef, RunDetail, RunPlayerDetail},
    },
    text::composed,
    tools::{
        files::{FilePattern, file_error, file_name},
        project_client::ProjectClient,
    },
};

/// Prefix of a reference to a file.
pub(super) const FILE_REF_PREFIX: &str = "artifact:";

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
    pub(crate) files: Vec<ListedFile>,
    /// Number of files that are listed without a name.
    pub(crate) nameless: usize,
}

/// A file of a player. The service does not guarantee that any of the fields is correct.
#[derive(Clone, Debug)]
pub(crate) struct ListedFile {
    pub(crate) filename: String,
    pub(crate) url: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) uploaded: Option<SystemTime>,
}

impl RunListing {
    /// Reads the run. The call also confirms that the run belongs to the project.
    pub(super) async fn read(caller: &Caller, project: Option<&str>, run_id: &str) -> Result<Self, Failure> {
        let client = ProjectClient { caller: caller.clone(), project: project.map(str::to_owned) };
        let run = client.call(&GetRun { run_id: Id(run_id.to_owned()) }).await?;

        Ok(Self::from_run(run_id, run.view::<GetRun>()))
    }

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
        let id = Some(player.player.id).filter(|id| !id.is_empty());
        let artifacts = player.artifacts.unwrap_or_default();
        let listed = artifacts.len();
        let files: Vec<_> = artifacts.into_iter().flatten().map(ListedFile::from).collect();

        Self {
            id: id.unwrap_or_else(|| format!("{run_id}-{number}")),
            number,
            nameless: listed - files.len(),
            files,
        }
    }
}

impl From<RunArtifactRef> for ListedFile {
    fn from(file: RunArtifactRef) -> Self {
        let uploaded = file.uploaded_at.parse::<Timestamp>().ok();
        Self {
            filename: file.filename,
            url: Some(file.url).filter(|url| !url.is_empty()),
            size: file.size,
            uploaded: uploaded.and_then(|at| SystemTime::try_from(at).ok()),
        }
    }
}

/// The plan of a download.
#[derive(Debug)]
pub(super) struct DownloadPlan<'a> {
    request: &'a DownloadRequest,
    /// Whether the files of each player are saved in a directory, because those of several players may have equal
    /// names.
    has_directories: bool,
    pub(super) files: Vec<PlannedFile>,
    /// Requested files that cannot be saved.
    pub(super) failed: Vec<FailedFile>,
    /// Local names of the files in lower case and with composed characters, because some file systems ignore the
    /// difference.
    taken_names: BTreeSet<String>,
}

/// A file that is to be saved.
#[derive(Clone, Debug)]
pub(super) struct PlannedFile {
    pub(super) artifact: Artifact,
    pub(super) target: DownloadTarget,
}

impl<'a> DownloadPlan<'a> {
    /// Plans the files that `request` asks for. `patterns` are its compiled patterns.
    ///
    /// # Errors
    /// `not_found` if the run does not have a requested player.
    pub(super) fn new(
        request: &'a DownloadRequest,
        patterns: Option<&[FilePattern]>,
        listing: &RunListing,
    ) -> Result<Self, Failure> {
        let (_, single_player) = split_player_id(&request.run_id);
        check_players(request, single_player, listing)?;

        let mut plan = Self {
            request,
            has_directories: single_player.is_none() && listing.players.len() > 1,
            files: Vec::new(),
            failed: Vec::new(),
            taken_names: BTreeSet::new(),
        };
        match &request.files {
            Some(files) => plan.add_named_files(files, listing),
            None => plan.add_matching_files(single_player, patterns, listing),
        }
        plan.refuse_directory_names();

        Ok(plan)
    }

    fn add_named_files(&mut self, files: &[RequestedFile], listing: &RunListing) {
        for requested in files {
            let name = requested.file_ref.strip_prefix(FILE_REF_PREFIX).unwrap_or(&requested.file_ref);
            let Some((player, file)) = find_file(listing, &requested.run_id.0, name) else {
                self.fail(&requested.run_id.0, name, not_listed(name));
                continue;
            };

            let path = requested.relative_path.clone();
            let path = path.unwrap_or_else(|| self.default_path(player, name));
            self.add(player, file, path);
        }
    }

    fn add_matching_files(
        &mut self,
        single_player: Option<u64>,
        patterns: Option<&[FilePattern]>,
        listing: &RunListing,
    ) {
        let players = self.request.players.as_ref();
        let is_requested = |player: &&ListedPlayer| {
            single_player.is_none_or(|number| number == player.number)
                && players.is_none_or(|players| players.contains(&player.number))
        };
        let is_match = |file: &&ListedFile| {
            patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.is_match(&file.filename)))
        };

        for player in listing.players.iter().filter(is_requested) {
            for file in player.files.iter().filter(is_match) {
                self.add(player, file, self.default_path(player, &file.filename));
            }
            for _ in 0..player.nameless {
                self.fail(&player.id, "", nameless());
            }
        }
    }

    /// Returns the local name of a file for which the caller chooses none.
    fn default_path(&self, player: &ListedPlayer, name: &str) -> String {
        if self.has_directories { format!("player-{}/{name}", player.number) } else { name.to_owned() }
    }

    /// Adds a file with the local name `path`, if it can have that name.
    fn add(&mut self, player: &ListedPlayer, file: &ListedFile, path: String) {
        // The remote name becomes a part of an address, and the local name a part of a path.
        let problem = file_name::shape_problem(&file.filename).or_else(|| file_name::path_problem(&path));
        if let Some(problem) = problem {
            let failure = file_error(&file.filename, &format!("is refused: the name {problem}"));
            return self.fail(&player.id, &file.filename, failure);
        }
        if !self.taken_names.insert(composed(&path).to_lowercase()) {
            let failure = file_error(&path, "is the name of another file of this run");
            return self.fail(&player.id, &file.filename, failure);
        }

        let artifact = Artifact {
            project: self.request.project.clone(),
            run_id: player.id.clone(),
            filename: file.filename.clone(),
            url: file.url.clone(),
        };
        let target = DownloadTarget {
            path,
            size: file.size,
            modified: file.uploaded,
            replaces: self.request.overwrite,
        };
        self.files.push(PlannedFile { artifact, target });
    }

    /// Refuses files whose local names are directories of other files.
    fn refuse_directory_names(&mut self) {
        let is_directory = |file: &PlannedFile| {
            // `a` and `a/b` cannot both be files.
            let prefix = format!("{}/", composed(&file.target.path).to_lowercase());
            self.taken_names.range(prefix.clone()..).next().is_some_and(|next| next.starts_with(&prefix))
        };
        let (refused, files) = std::mem::take(&mut self.files).into_iter().partition(is_directory);
        self.files = files;

        for PlannedFile { artifact, target } in refused {
            let failure = file_error(&target.path, "is the directory of another file of this run");
            self.fail(&artifact.run_id, &artifact.filename, failure);
        }
    }

    fn fail(&mut self, run_id: &str, name: &str, failure: Failure) {
        self.failed.push(FailedFile::new(run_id, name, failure));
    }
}

fn find_file<'a>(
    listing: &'a RunListing,
    run_id: &str,
    name: &str,
) -> Option<(&'a ListedPlayer, &'a ListedFile)> {
    let player = listing.players.iter().find(|player| player.id == run_id)?;
    Some((player, player.files.iter().find(|file| file.filename == name)?))
}

fn check_players(
    request: &DownloadRequest,
    single_player: Option<u64>,
    listing: &RunListing,
) -> Result<(), Failure> {
    let existing: Vec<_> = listing.players.iter().map(|player| player.number).collect();
    let mut requested = request.players.iter().flatten().chain(&single_player);
    let Some(missing) = requested.find(|number| !existing.contains(number)) else { return Ok(()) };

    let message = format!("run `{}` has no player {missing}", listing.run_id);
    Err(Failure::new(Code::NotFound, message).hint("see `details.players`").detail("players", existing))
}

fn not_listed(name: &str) -> Failure {
    let message = format!("`{}` is not among the files of that player", quote(name));
    Failure::new(Code::NotFound, message).hint("list the files with `tool:list_run_artifacts`")
}

fn nameless() -> Failure {
    let message = "get_run: an artifact is listed without a `filename`";
    Failure::new(Code::BadResponse, message).hint("it cannot be downloaded")
}

/// Splits the id of a player into the id of its run and the number of the player. The id of a run has no number.
pub(super) fn split_player_id(id: &str) -> (&str, Option<u64>) {
    let parts = id.rsplit_once('-').and_then(|(run, player)| Some((run, player.parse().ok()?)));
    parts.filter(|(run, _)| !run.is_empty()).map_or((id, None), |(run, player)| (run, Some(player)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_after_the_last_hyphen_is_that_of_a_player() {
        let cases = [
            ("run_1-2", ("run_1", Some(2))),
            ("run_1", ("run_1", None)),
            ("a-b", ("a-b", None)),
            ("a-1-2", ("a-1", Some(2))),
            ("-2", ("-2", None)),
        ];
        for (id, expected) in cases {
            assert_eq!(split_player_id(id), expected, "{id}");
        }
    }
}
