//! The downloadable files of a run, as `get_run` lists them.

use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    call::gateway::Gateway,
    failure::Failure,
    service::api::{Id, runs::GetRun},
    tools::project_client::ProjectClient,
};

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
    ///
    /// # Errors
    /// Every failure of `get_run`.
    pub(super) async fn read(
        gateway: &Gateway,
        project: Option<&str>,
        run_id: &str,
    ) -> Result<Self, Failure> {
        let client = ProjectClient { gateway: gateway.clone(), project: project.map(str::to_owned) };
        let run = client.call(&GetRun { run_id: Id(run_id.to_owned()) }).await?;

        Ok(Self::from_record(run_id, run.value()))
    }

    /// Creates the list from the full record of a run.
    pub(crate) fn from_record(run_id: &str, run: &Value) -> Self {
        let players = run.get("players").and_then(Value::as_array).into_iter().flatten();

        Self {
            run_id: run_id.to_owned(),
            state: text(run, "state").unwrap_or_default(),
            players: (1..)
                .zip(players)
                .map(|(position, player)| ListedPlayer::from_record(run_id, position, player))
                .collect(),
        }
    }
}

impl ListedPlayer {
    /// Reads the player at `position`, counted from 1. Records of old runs have neither id nor number.
    fn from_record(run_id: &str, position: u64, player: &Value) -> Self {
        let number = player.get("player_number").and_then(Value::as_u64).unwrap_or(position);
        let artifacts = player.get("artifacts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let files: Vec<_> = artifacts.iter().filter_map(ListedFile::from_record).collect();

        Self {
            id: text(player, "id").unwrap_or_else(|| format!("{run_id}-{number}")),
            number,
            nameless: artifacts.len() - files.len(),
            files,
        }
    }
}

impl ListedFile {
    fn from_record(file: &Value) -> Option<Self> {
        let uploaded = text(file, "uploaded_at").or_else(|| text(file, "uploaded"));
        Some(Self {
            filename: text(file, "filename")?,
            url: text(file, "url"),
            size: file.get("size").and_then(Value::as_u64),
            uploaded: uploaded.and_then(|at| SystemTime::try_from(at.parse::<Timestamp>().ok()?).ok()),
        })
    }
}

fn text(record: &Value, name: &str) -> Option<String> {
    record.get(name).and_then(Value::as_str).map(str::to_owned)
}
