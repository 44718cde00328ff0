//! What a run has to download: its players and their files, as `get_run` shows them.

use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    call::gateway::Gateway,
    failure::{Code, Failure},
    fields::Fields,
    service::{api::runs::GetRun, catalog, operation::Operation as _, tool::PROJECT_ID},
};

/// The files of a run.
#[derive(Clone, Debug)]
pub(super) struct RunListing {
    pub(super) run_id: String,
    pub(super) state: String,
    pub(super) players: Vec<ListedPlayer>,
}

/// A player of the run.
#[derive(Clone, Debug)]
pub(super) struct ListedPlayer {
    /// `<run>-<player>`
    pub(super) id: String,
    /// From 1.
    pub(super) number: u64,
    pub(super) files: Vec<ListedFile>,
    /// Files that are listed without a name.
    pub(super) nameless: usize,
}

/// A file as it is listed. Nothing of it can be trusted.
#[derive(Clone, Debug)]
pub(super) struct ListedFile {
    pub(super) filename: String,
    pub(super) url: Option<String>,
    pub(super) size: Option<u64>,
    pub(super) uploaded: Option<SystemTime>,
}

/// The run and the player of an id, which may be that of a run alone.
pub(super) fn split(id: &str) -> (&str, Option<u64>) {
    let player = id.rsplit_once('-').and_then(|(run, player)| Some((run, player.parse().ok()?)));
    player.filter(|(run, _)| !run.is_empty()).map_or((id, None), |(run, player)| (run, Some(player)))
}

/// Asks for the run. That confirms its project too.
pub(super) async fn read(
    gateway: &Gateway,
    project: Option<&str>,
    run_id: &str,
) -> Result<RunListing, Failure> {
    let entry = catalog::find(GetRun::NAME)
        .ok_or_else(|| Failure::new(Code::NotFound, "there is no operation `get_run`"))?;
    let mut arguments = Fields::from_iter([("run_id".to_owned(), json!(run_id))]);

    if let Some(project) = project {
        arguments.insert(PROJECT_ID.to_owned(), json!(project));
    }

    let reply = gateway.call(entry, arguments).await?;
    let run = reply.value();
    let players = run.get("players").and_then(Value::as_array).into_iter().flatten();

    Ok(RunListing {
        run_id: run_id.to_owned(),
        state: text(run, "state").unwrap_or_default(),
        players: (1..).zip(players).map(|(place, one)| player(run_id, place, one)).collect(),
    })
}

fn player(run_id: &str, place: u64, player: &Value) -> ListedPlayer {
    let number = player.get("player_number").and_then(Value::as_u64).unwrap_or(place);
    let id = text(player, "id").unwrap_or_else(|| format!("{run_id}-{number}"));
    let artifacts = player.get("artifacts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let listed = |file: &Value| {
        let uploaded = text(file, "uploaded_at").or_else(|| text(file, "uploaded"));
        Some(ListedFile {
            filename: text(file, "filename")?,
            url: text(file, "url"),
            size: file.get("size").and_then(Value::as_u64),
            uploaded: uploaded.and_then(|at| at.parse::<Timestamp>().ok()).map(SystemTime::from),
        })
    };

    let files: Vec<_> = artifacts.iter().filter_map(listed).collect();
    let nameless = artifacts.len() - files.len();

    ListedPlayer { id, number, files, nameless }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}
