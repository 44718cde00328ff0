//! What a user names: an id, the beginning of an id, or a name. Every command finds its records here, and results in
//! `result_resolution`.

use serde_json::Value;

use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{arguments::is_uuid, catalog::OperationEntry, record_kind::RecordKind},
    tools::{
        find::{FoundRecord, Lists, NameResult},
        newest::{NewestRecords, read_newest},
        reader::Reader,
    },
};

/// Word for the newest record, in place of an id.
pub(super) const LATEST: &str = "latest";

/// Shortest beginning of an id, in characters.
pub(super) const SHORTEST_BEGINNING: usize = 4;

/// Finds the ids of what a user names.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameResolver<'a> {
    pub(super) caller: &'a Caller,
    /// The project that a flag names; `None` if the settings or the key decide it.
    pub(super) project: Option<&'a str>,
}

impl<'a> NameResolver<'a> {
    pub(super) fn new(caller: &'a Caller, project: Option<&'a str>) -> Self {
        Self { caller, project }
    }

    pub(super) fn reader(self) -> Reader {
        Reader::new(self.caller, self.project)
    }

    /// Returns the id of the record of the kind `kind` that has this name or id. An id of a record is a UUID, for which
    /// no request is sent.
    pub(super) async fn id(self, kind: RecordKind, name: &str) -> Result<String, Failure> {
        if is_uuid(name) { Ok(name.to_owned()) } else { Ok(self.record(kind, name).await?.id) }
    }

    /// Returns the record of the kind `kind` with this name or id, with its distinguishing fields.
    pub(super) async fn record(self, kind: RecordKind, name: &str) -> Result<FoundRecord, Failure> {
        Ok(self.record_of(&[kind], name).await?.0)
    }

    /// Returns the record that is meant, and what is known beside it of the name.
    pub(super) async fn record_of(
        self,
        kinds: &[RecordKind],
        name: &str,
    ) -> Result<(FoundRecord, NameResult), Failure> {
        let found = self.search(kinds, name).await?;
        let has_name = found.records.iter().any(FoundRecord::has_name);
        if has_name || !is_beginning_of_id(name) {
            return single(kinds, found);
        }

        let lists = kinds.iter().map(|kind| async move {
            // A key that may not read a list has no ids of it.
            let records = self.newest_records(kind.list(), kind.filter()).await.map(|records| records.data);
            let records = records.unwrap_or_default();
            let found = records.iter().filter_map(|record| FoundRecord::from_record(*kind, record));
            found.filter(|record| begins(&record.id, name)).collect::<Vec<_>>()
        });
        let records = futures_util::future::join_all(lists).await.concat();
        if records.is_empty() {
            return single(kinds, found);
        }

        single(kinds, NameResult::new(name, records))
    }

    pub(super) async fn newest_records(
        self,
        list: &'static OperationEntry,
        filter: Fields,
    ) -> Result<NewestRecords, Failure> {
        let arguments = ToolArguments::new(filter, CommonArguments::in_project(self.project));
        read_newest(self.caller, list, arguments).await
    }

    pub(super) async fn search(self, kinds: &[RecordKind], name: &str) -> Result<NameResult, Failure> {
        let found = Lists::read(&self.reader(), kinds).await?.find(name);
        if let Some(reason) = found.unread.reason() {
            tracing::warn!("not every list could be read: {reason}");
        }

        Ok(found)
    }
}

/// Returns whether a text may be the beginning of an id. A whole id is no beginning.
pub(super) fn is_beginning_of_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() >= SHORTEST_BEGINNING
        && text.bytes().all(is_plain)
        && text.contains(|character: char| character.is_ascii_digit())
        && !is_uuid(text)
}

pub(super) fn begins(id: &str, beginning: &str) -> bool {
    id.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

pub(super) fn single(kinds: &[RecordKind], found: NameResult) -> Result<(FoundRecord, NameResult), Failure> {
    let nouns: Vec<_> = kinds.iter().map(|kind| noun(*kind)).collect();
    let nouns = match nouns.as_slice() {
        [others @ .., one, last] => [others, &[&*format!("{one} or {last}")]].concat().join(", "),
        _ => nouns.concat(),
    };
    let choices: Vec<_> = found.records.iter().map(choice).collect();
    let is_read = found.unread.is_empty();
    let is_near = is_read && found.records.first().is_some_and(|record| !record.has_name());
    let hint = match kinds {
        _ if !choices.is_empty() || !is_read => "nothing was sent; pass the whole name or the id".to_owned(),
        [_, _, _, ..] => {
            "nothing was sent; `tas-mcp runs`, `tests`, `plans`, `builds`, `devices` and `bugs` list what there is"
                .to_owned()
        }
        kinds => {
            let commands: Vec<_> = kinds.iter().map(|kind| format!("`{}`", list_command(*kind))).collect();
            format!("nothing was sent; see {}", commands.join(" and "))
        }
    };

    found.take_single(&nouns).map_err(|mut failure| {
        failure.code = Code::InvalidArguments;
        failure.message += if is_near { "; the nearest are" } else { "" };
        failure.facts.choices = choices;
        failure.hint(hint)
    })
}

/// Returns a line about a record: its name, what tells it apart, and its id.
pub(super) fn choice(record: &FoundRecord) -> String {
    let more: Vec<_> = record.more.values().filter_map(Value::as_str).collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    format!("{} {}{more}: {}", noun(record.kind), record.name, record.id)
}

pub(super) fn noun(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Result(kind) => kind.noun(),
        RecordKind::Test => "test",
        RecordKind::TestPlan => "plan",
        RecordKind::TestFolder => "folder",
        RecordKind::DeploymentConfig => "device",
        RecordKind::AgentConfig => "agent config",
        RecordKind::Build => "build",
        RecordKind::SharedStep => "shared step",
        RecordKind::Bug => "bug",
    }
}

fn list_command(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::TestPlan => "tas-mcp plans",
        RecordKind::DeploymentConfig => "tas-mcp devices",
        RecordKind::Build => "tas-mcp builds",
        RecordKind::AgentConfig => "tas-mcp call list_agent_configs",
        _ => "tas-mcp tests",
    }
}
