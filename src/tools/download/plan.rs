//! The plan of a download: which files of a run are saved, and under which names.

use std::collections::BTreeSet;

use super::{
    DownloadRequest,
    file_ref::{FILE_REF_PREFIX, split_player_id},
    report::FailedFile,
    run_listing::{ListedFile, ListedPlayer, RunListing},
    target::DownloadTarget,
};
use crate::{
    call::gateway::Artifact,
    failure::{Code, Failure, quote},
    tools::files::{FilePattern, file_error, file_name},
};

/// The plan of a download.
#[derive(Debug, Default)]
pub(super) struct DownloadPlan {
    pub(super) files: Vec<PlannedFile>,
    /// Requested files that cannot be saved.
    pub(super) failed: Vec<FailedFile>,
    /// Local names of the files in lower case, because some file systems ignore case.
    taken_names: BTreeSet<String>,
}

/// A file that is to be saved.
#[derive(Clone, Debug)]
pub(super) struct PlannedFile {
    pub(super) artifact: Artifact,
    pub(super) target: DownloadTarget,
}

impl DownloadPlan {
    /// Plans the files that `request` asks for. `patterns` are its compiled patterns.
    ///
    /// # Errors
    /// `not_found` if the run does not have a requested player.
    pub(super) fn new(
        request: &DownloadRequest,
        patterns: Option<&[FilePattern]>,
        listing: &RunListing,
    ) -> Result<Self, Failure> {
        let (_, single_player) = split_player_id(&request.run_id);
        check_players(request, single_player, listing)?;

        // The files of several players may have equal names.
        let has_folders = single_player.is_none() && listing.players.len() > 1;
        let mut plan = Self::default();
        if request.files.is_some() {
            plan.add_named_files(request, listing, has_folders);
        } else {
            plan.add_matching_files(request, patterns, listing, has_folders);
        }
        plan.refuse_directory_names();

        Ok(plan)
    }

    /// Adds the files that the caller names.
    fn add_named_files(&mut self, request: &DownloadRequest, listing: &RunListing, has_folders: bool) {
        for requested in request.files.iter().flatten() {
            let name = requested.file_ref.strip_prefix(FILE_REF_PREFIX).unwrap_or(&requested.file_ref);
            let Some((player, file)) = find_file(listing, &requested.run_id.0, name) else {
                self.fail(&requested.run_id.0, name, not_listed(name));
                continue;
            };

            let default_path = || default_path(player, name, has_folders);
            let path = requested.relative_path.clone().unwrap_or_else(default_path);
            self.add(request, player, file, path);
        }
    }

    /// Adds the files that match the requested players and patterns.
    fn add_matching_files(
        &mut self,
        request: &DownloadRequest,
        patterns: Option<&[FilePattern]>,
        listing: &RunListing,
        has_folders: bool,
    ) {
        let (_, single_player) = split_player_id(&request.run_id);
        let is_requested = |player: &&ListedPlayer| {
            single_player.is_none_or(|number| number == player.number)
                && request.players.as_ref().is_none_or(|players| players.contains(&player.number))
        };
        let is_match = |file: &&ListedFile| {
            patterns.is_none_or(|patterns| patterns.iter().any(|pattern| pattern.is_match(&file.filename)))
        };

        for player in listing.players.iter().filter(is_requested) {
            for file in player.files.iter().filter(is_match) {
                self.add(request, player, file, default_path(player, &file.filename, has_folders));
            }
            for _ in 0..player.nameless {
                self.fail(&player.id, "", nameless());
            }
        }
    }

    /// Adds a file with the local name `path`, if it can have that name.
    fn add(&mut self, request: &DownloadRequest, player: &ListedPlayer, file: &ListedFile, path: String) {
        // The remote name becomes a part of an address, and the local name a part of a path.
        let problem =
            file_name::shape_problem(&file.filename).or_else(|| DownloadRequest::path_problem(&path));
        if let Some(problem) = problem {
            let failure = file_error(&file.filename, &format!("is refused: the name {problem}"));
            return self.fail(&player.id, &file.filename, failure);
        }
        if !self.taken_names.insert(path.to_lowercase()) {
            let failure = file_error(&path, "is the name of another file of this run");
            return self.fail(&player.id, &file.filename, failure);
        }

        let artifact = Artifact {
            project: request.project.clone(),
            run_id: player.id.clone(),
            filename: file.filename.clone(),
            url: file.url.clone(),
        };
        let target = DownloadTarget {
            path,
            size: file.size,
            modified: file.uploaded,
            replaces: request.overwrite,
            hashes: false,
        };
        self.files.push(PlannedFile { artifact, target });
    }

    /// Refuses files whose local names are directories of other files.
    fn refuse_directory_names(&mut self) {
        let is_directory = |file: &PlannedFile| {
            // `a` and `a/b` cannot both be files.
            let prefix = format!("{}/", file.target.path.to_lowercase());
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

/// Returns the local name of a file for which the caller chooses none.
fn default_path(player: &ListedPlayer, name: &str, has_folders: bool) -> String {
    if has_folders { format!("player-{}/{name}", player.number) } else { name.to_owned() }
}

fn find_file<'a>(
    listing: &'a RunListing,
    run_id: &str,
    name: &str,
) -> Option<(&'a ListedPlayer, &'a ListedFile)> {
    let player = listing.players.iter().find(|player| player.id == run_id)?;
    Some((player, player.files.iter().find(|file| file.filename == name)?))
}

/// Checks that the run has all requested players.
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
    Failure::new(Code::NotFound, message).hint("list the files with `list_run_artifacts`")
}

fn nameless() -> Failure {
    let message = "get_run: an artifact is listed without a `filename`";
    Failure::new(Code::BadResponse, message).hint("it cannot be downloaded")
}
