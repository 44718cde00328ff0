//! Which files of a run are wanted, and where each of them goes.

use std::collections::BTreeSet;

use super::{
    DownloadRequest,
    context::DownloadTarget,
    partial_file,
    report::FailedFile,
    run_listing::{ListedFile, ListedPlayer, RunListing, split},
};
use crate::{
    call::gateway::Artifact,
    failure::{Code, Failure, quote},
    tools::files::{file_error, file_name},
};

/// Beginning of a reference to a file (supplement 15).
pub(super) const ARTIFACT: &str = "artifact:";

/// What is to be done.
#[derive(Debug, Default)]
pub(super) struct DownloadPlan {
    pub(super) wanted: Vec<PlannedFile>,
    /// What cannot be done.
    pub(super) failed: Vec<FailedFile>,
    /// Places that are taken, in lower case: some file systems know no other.
    taken: BTreeSet<String>,
}

/// A file that is wanted.
#[derive(Clone, Debug)]
pub(super) struct PlannedFile {
    pub(super) artifact: Artifact,
    pub(super) target: DownloadTarget,
}

/// Why a name that a caller chose cannot be one of a file.
pub(super) fn problem(path: &str) -> Option<&'static str> {
    let is_taken = || path.rsplit('/').next().is_some_and(partial_file::is_taken);
    file_name::path_problem(path).or_else(|| is_taken().then_some("is kept for files that are not whole"))
}

impl DownloadPlan {
    /// Chooses among what is listed.
    ///
    /// # Errors
    /// `not_found`: the run has no such player.
    pub(super) fn of(order: &DownloadRequest, listing: &RunListing) -> Result<Self, Failure> {
        let mut plan = Self::default();
        let (_, only) = split(&order.run_id);
        check_players(order, only, listing)?;

        let has_folders = only.is_none() && listing.players.len() > 1;
        let path = |player: &ListedPlayer, name: &str| {
            if has_folders { format!("player-{}/{name}", player.number) } else { name.to_owned() }
        };

        if let Some(choices) = &order.files {
            for choice in choices {
                let name = choice.file_ref.strip_prefix(ARTIFACT).unwrap_or(&choice.file_ref);
                let found = find(listing, &choice.run_id.0, name);
                let Some((player, file)) = found else {
                    plan.fail(&choice.run_id.0, name, not_listed(name));
                    continue;
                };
                let place = choice.relative_path.clone().unwrap_or_else(|| path(player, name));
                plan.want(order, player, file, place);
            }
            plan.refuse_directories();
            return Ok(plan);
        }

        let is_wanted = |player: &&ListedPlayer| {
            only.is_none_or(|only| only == player.number)
                && order.players.as_ref().is_none_or(|players| players.contains(&player.number))
        };

        for player in listing.players.iter().filter(is_wanted) {
            for file in player.files.iter().filter(|file| order.means(&file.filename)) {
                plan.want(order, player, file, path(player, &file.filename));
            }
            for _ in 0..player.nameless {
                plan.fail(&player.id, "", nameless());
            }
        }

        plan.refuse_directories();

        Ok(plan)
    }

    /// Refuses files whose places are directories of other ones.
    fn refuse_directories(&mut self) {
        let is_directory = |one: &PlannedFile| {
            let start = format!("{}/", one.target.path.to_lowercase());
            self.taken.range(start.clone()..).next().is_some_and(|next| next.starts_with(&start))
        };
        let (refused, wanted) = std::mem::take(&mut self.wanted).into_iter().partition(is_directory);
        self.wanted = wanted;

        for PlannedFile { artifact, target } in refused {
            let failure = file_error(&target.path, "is the directory of another file of this run");
            self.fail(&artifact.run_id, &artifact.filename, failure);
        }
    }

    fn want(&mut self, order: &DownloadRequest, player: &ListedPlayer, file: &ListedFile, path: String) {
        // The name itself goes into an address, and the place where it is saved onto the disk.
        let refusal = problem(&file.filename).or_else(|| problem(&path));
        let failure = match refusal {
            Some(problem) => refused(&file.filename, problem),
            None if !self.taken.insert(path.to_lowercase()) => {
                file_error(&path, "is the place of another file of this run")
            }
            None => {
                self.wanted.push(wanted(order, player, file, path));
                return;
            }
        };
        self.fail(&player.id, &file.filename, failure);
    }

    fn fail(&mut self, run_id: &str, name: &str, failure: Failure) {
        self.failed.push(FailedFile::new(run_id, name, failure));
    }
}

fn wanted(order: &DownloadRequest, player: &ListedPlayer, file: &ListedFile, path: String) -> PlannedFile {
    let artifact = Artifact {
        project: order.project.clone(),
        run_id: player.id.clone(),
        filename: file.filename.clone(),
        url: file.url.clone(),
    };

    let (size, modified) = (file.size, file.uploaded);
    let target = DownloadTarget { path, size, modified, replaces: order.overwrite, hashes: false };

    PlannedFile { artifact, target }
}

fn find<'a>(listing: &'a RunListing, run_id: &str, name: &str) -> Option<(&'a ListedPlayer, &'a ListedFile)> {
    let player = listing.players.iter().find(|player| player.id == run_id)?;
    Some((player, player.files.iter().find(|file| file.filename == name)?))
}

fn check_players(order: &DownloadRequest, only: Option<u64>, listing: &RunListing) -> Result<(), Failure> {
    let there: Vec<_> = listing.players.iter().map(|player| player.number).collect();
    let asked = order.players.iter().flatten().chain(&only);
    let missing: Vec<_> = asked.filter(|number| !there.contains(number)).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let message = format!("run `{}` has no player {first}", listing.run_id);
    Err(Failure::new(Code::NotFound, message).hint("see `details.players`").detail("players", there))
}

fn not_listed(name: &str) -> Failure {
    let message = format!("`{}` is not among the files of that player", quote(name));
    Failure::new(Code::NotFound, message).hint("see what there is with `list_run_artifacts`")
}

fn nameless() -> Failure {
    let message = "get_run: an artifact is listed without a `filename`";
    Failure::new(Code::BadResponse, message).hint("it cannot be fetched; tell the person")
}

fn refused(name: &str, problem: &str) -> Failure {
    file_error(name, &format!("is refused: the name {problem}"))
}
