//! Completion of the values of arguments: words that a schema permits, and names and ids of records, which are read from
//! the service while a user types.

use std::{collections::BTreeSet, ffi::OsStr, time::Duration};

use clap::{Arg, Command, builder::ArgExt};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use futures_util::future::join_all;
use serde_json::Value;
use tokio::runtime::Handle;

use super::named_arguments::record_kind;
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    fields::field_at,
    service::{
        api::{
            ListPage,
            executions::ListTestPlanExecutions,
            jobs::ListJobs,
            runs::{ListRuns, NEWEST},
        },
        catalog::{ListedOperation as _, OperationEntry},
        result_kind::ResultKind,
        view::view,
    },
    text::{composed, single_line, visible},
    tools::name_search::RecordKind,
};

/// Time limit of reading the records. A user does not wait longer for candidates.
const READ_LIMIT: Duration = Duration::from_secs(1);

/// Largest number of candidates.
const MAX_CANDIDATES: usize = 100;

/// Kind of the records whose names or ids complete an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// Records with names.
    Named(RecordKind),
    /// Runs, jobs or executions, which are completed by their ids.
    Result(ResultKind),
    /// Runs and executions: what `tas-mcp report` shows.
    AnyResult,
}

impl NameKind {
    /// Returns the kind of the records that the argument `name` of a tool refers to.
    pub(super) fn of_argument(name: &str) -> Option<Self> {
        let result = || ResultKind::ALL.into_iter().find(|kind| kind.reference_fields().contains(&name));
        record_kind(name).map(Self::Named).or_else(|| result().map(Self::Result))
    }
}

/// Completion of an argument. Attach it with `Arg::add`.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameCompletion(NameKind);

impl ArgExt for NameCompletion {}

/// Returns the completion of an argument that takes a name or an id.
pub(super) fn name_completions(kind: NameKind) -> NameCompletion {
    NameCompletion(kind)
}

/// Returns `flag`, which sets the argument `name` of a tool, with the completion of its values.
pub(super) fn complete_argument(flag: Arg, name: &str, schema: &Value) -> Arg {
    match choices(schema) {
        choices if choices.is_empty() => complete_name(flag, name),
        choices => complete_choices(flag, choices),
    }
}

/// Returns `flag`, with the completion of the records that the argument `name` of a tool refers to, if it refers to
/// any.
pub(super) fn complete_name(flag: Arg, name: &str) -> Arg {
    match NameKind::of_argument(name) {
        Some(kind) => flag.add(name_completions(kind)),
        None => flag,
    }
}

/// Returns `flag`, which is completed with these words.
fn complete_choices(flag: Arg, choices: Vec<String>) -> Arg {
    let candidates = move || choices.iter().map(CompletionCandidate::new).collect();
    flag.add(ArgValueCandidates::new(candidates))
}

/// Returns the values that the schema of an argument, or of the items of a list, permits.
fn choices(schema: &Value) -> Vec<String> {
    let of = |schema: &Value| schema.get("enum").and_then(Value::as_array).cloned();
    let choices = of(schema).or_else(|| of(schema.get("items")?));
    if let (None, Some("boolean")) = (&choices, schema.get("type").and_then(Value::as_str)) {
        return ["true", "false"].map(str::to_owned).to_vec();
    }

    choices.iter().flatten().filter_map(|choice| choice.as_str().map(str::to_owned)).collect()
}

/// Returns `command`, whose arguments and subcommands are completed with names that `reader` reads.
pub(super) fn with_names(command: Command, reader: &NameReader) -> Command {
    let command = command.mut_args(|argument| match argument.get::<NameCompletion>().copied() {
        Some(completion) => {
            let reader = reader.clone();
            argument.add(ArgValueCompleter::new(move |typed: &OsStr| reader.candidates(completion, typed)))
        }
        None => argument,
    });
    command.mut_subcommands(|below| with_names(below, reader))
}

/// Reads names from the service.
#[derive(Clone, Debug)]
pub(super) struct NameReader {
    /// `None` if the settings are unusable, so that no names can be read.
    caller: Option<Caller>,
    runtime: Handle,
}

/// A list of the service.
struct CompletedList {
    operation: &'static OperationEntry,
    /// Arguments that select the newest records, if the service can.
    newest: &'static [(&'static str, &'static str)],
    /// Field with the id.
    id: &'static str,
    /// Path of the field with the name.
    name: &'static str,
}

/// A record of a list.
#[derive(Debug)]
struct NamedRecord {
    id: String,
    name: String,
}

impl NameReader {
    /// Creates a reader. `runtime` must be driven by another thread than the one that asks for candidates.
    pub(super) fn new(caller: Option<Caller>, runtime: Handle) -> Self {
        Self { caller, runtime }
    }

    /// Returns the candidates that begin with `typed`. Without an answer in time, there are none.
    fn candidates(&self, completion: NameCompletion, typed: &OsStr) -> Vec<CompletionCandidate> {
        let reading = async { tokio::time::timeout(READ_LIMIT, self.read(completion.0)).await };
        let records = self.runtime.block_on(reading).unwrap_or_default();

        matching(&records, matches!(completion.0, NameKind::Named(_)), &typed.to_string_lossy())
    }

    async fn read(&self, kind: NameKind) -> Vec<NamedRecord> {
        let lists = lists(kind);
        join_all(lists.iter().map(|list| self.read_list(list))).await.into_iter().flatten().collect()
    }

    /// Returns the records of the first page of a list. A failure gives no records.
    async fn read_list(&self, list: &CompletedList) -> Vec<NamedRecord> {
        let arguments = list.newest.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        let Some(caller) = &self.caller else { return Vec::new() };
        let arguments = ToolArguments::new(arguments.collect(), CommonArguments::default());
        let reply = caller.call(list.operation, arguments).await;

        let page: ListPage<Value> = reply.map(|reply| view(reply.value())).unwrap_or_default();
        page.data.iter().filter_map(|record| list.parse(record)).collect()
    }
}

impl CompletedList {
    fn parse(&self, record: &Value) -> Option<NamedRecord> {
        let id = record.get(self.id)?.as_str()?.to_owned();
        let name = field_at(record, self.name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(NamedRecord { id, name })
    }
}

/// Returns the lists that contain the records of `kind`.
fn lists(kind: NameKind) -> Vec<CompletedList> {
    let page: &[_] = &[("page_size", "100")];
    let newest_executions: &[_] = &[("sort_by", "start_time"), ("sort_order", "desc"), ("page_size", "100")];
    let results = |operation, newest, kind: ResultKind, name| {
        vec![CompletedList { operation, newest, id: kind.id_field(), name }]
    };

    match kind {
        NameKind::Named(kind) => {
            let name = if kind == RecordKind::Bug { "title" } else { "name" };
            vec![CompletedList { operation: kind.list(), newest: page, id: "id", name }]
        }
        NameKind::Result(kind @ ResultKind::Run) => {
            results(ListRuns::entry(), &[(NEWEST, "50")], kind, "test.name")
        }
        NameKind::Result(kind @ ResultKind::Job) => results(ListJobs::entry(), page, kind, "test_name"),
        NameKind::Result(kind @ ResultKind::Execution) => {
            results(ListTestPlanExecutions::entry(), newest_executions, kind, "test_plan_name")
        }
        NameKind::AnyResult => {
            let kinds = [ResultKind::Run, ResultKind::Execution].map(NameKind::Result);
            kinds.into_iter().flat_map(lists).collect()
        }
    }
}

/// Returns the candidates that begin with `typed`. An id stands for a record whose name cannot be typed, and for one of
/// several records with the same name.
fn matching(records: &[NamedRecord], accepts_names: bool, typed: &str) -> Vec<CompletionCandidate> {
    let mut names = BTreeSet::new();
    let ambiguous: BTreeSet<_> =
        records.iter().map(|record| &record.name).filter(|name| !names.insert(*name)).collect();

    let values = records.iter().map(|record| {
        let has_usable_name =
            accepts_names && can_be_typed(&record.name) && !ambiguous.contains(&record.name);
        let begins_with_id = !typed.is_empty() && record.id.starts_with(typed);
        if has_usable_name && !begins_with_id {
            (record.name.as_str(), record.id.as_str())
        } else {
            (record.id.as_str(), record.name.as_str())
        }
    });

    let typed = composed(typed);
    let begins_as_typed = |value: &str| composed(value).starts_with(&*typed);
    let candidates =
        values.filter(|(value, _)| can_be_typed(value) && begins_as_typed(value)).map(|(value, meaning)| {
            let meaning = single_line(&visible(meaning)).clone();
            CompletionCandidate::new(value).help(Some(meaning.into()))
        });
    candidates.take(MAX_CANDIDATES).collect()
}

/// Returns whether a user sees all of `text`, it cannot be taken for a flag, and no shell runs a part of it. Whoever names a
/// record of the project chooses the text, and the rules for quotes differ between shells and with what is typed already.
fn can_be_typed(text: &str) -> bool {
    !text.trim().is_empty()
        && !text.starts_with('-')
        && !text.contains(is_special)
        && *visible(text) == *text
        && !text.contains(['\n', '\t'])
}

/// Returns whether a shell may take `character` for a quotation mark, an expansion or an escape. `PowerShell` takes typographic
/// quotation marks for plain ones.
fn is_special(character: char) -> bool {
    matches!(character, '\'' | '"' | '$' | '`' | '!' | '\\' | '\u{2018}'..='\u{201F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(accepts_names: bool, typed: &str) -> Vec<String> {
        let records = [
            ("1a", "Pause and resume"),
            ("1b", "Smoke"),
            ("2a", "Smoke"),
            ("2b", "-x"),
            ("2c", "hid\u{202e}den"),
            ("2d", "two\nlines"),
            ("3a", "Release'$(touch PWNED)'x"),
            ("3b", "Dana\u{2019}s"),
            ("3c", "a!b"),
            ("3d", "a`b"),
            ("3e", "a\\b"),
            ("4$(x)", "Nightly"),
            ("4'b", "a\"b"),
        ];
        let records = records.map(|(id, name)| NamedRecord { id: id.to_owned(), name: name.to_owned() });
        let candidates = matching(&records, accepts_names, typed);
        candidates.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_name_that_is_unique_and_visible_is_a_candidate_and_otherwise_the_id() {
        let ids = ["1b", "2a", "2b", "2c", "2d", "3a", "3b", "3c", "3d", "3e"];
        assert_eq!(values(true, ""), [&["Pause and resume"], &ids[..], &["Nightly"]].concat());
        assert_eq!(values(true, "Rel"), [""; 0]);
        assert_eq!(values(true, "Pau"), ["Pause and resume"]);
        assert_eq!(values(true, "1"), ["1a", "1b"]);
        assert_eq!(values(false, ""), [&["1a"], &ids[..]].concat());
        assert_eq!(values(false, "Pau"), [""; 0]);
    }

    #[test]
    fn candidates_are_limited() {
        let record = |id: usize| NamedRecord { id: id.to_string(), name: String::new() };
        let records: Vec<_> = (0..=MAX_CANDIDATES).map(record).collect();
        assert_eq!(matching(&records, true, "").len(), MAX_CANDIDATES);
    }
}
