//! Completion of the values of arguments: words that a schema permits, and names and ids of records, which are read from
//! the service while a user types.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    time::Duration,
};

use clap::{Arg, Command, builder::ArgExt};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use futures_util::future::{LocalBoxFuture, join_all};
use serde_json::Value;
use tokio::runtime::Builder;

use super::{
    calls::build_caller,
    columns::{Context, result_words},
    named_arguments::record_kind,
};
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
        lenient::view,
        result_kind::ResultKind,
    },
    settings::Settings,
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

/// Starts the sandbox that the settings ask for, and changes them so that they use it. The value that it returns keeps the
/// sandbox running.
pub type StartSandbox = for<'a> fn(&'a mut Settings) -> LocalBoxFuture<'a, anyhow::Result<Box<dyn Any>>>;

/// Reads names from the service that the settings of a command line select.
#[derive(Clone)]
pub(super) struct NameReader {
    /// The words of the command line before the incomplete one.
    words: Vec<String>,
    program: fn() -> Command,
    start_sandbox: StartSandbox,
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
    /// Verdict and age of a result.
    detail: String,
}

impl NameReader {
    /// Creates a reader for the command line with these words, of which the last one is incomplete.
    pub(super) fn new(words: &[String], program: fn() -> Command, start_sandbox: StartSandbox) -> Self {
        let complete = words.split_last().map(|(_, complete)| complete.to_vec());
        Self { words: complete.unwrap_or_default(), program, start_sandbox }
    }

    /// Returns the candidates that begin with `typed`. Without an answer in time, there are none.
    fn candidates(&self, NameCompletion(kind): NameCompletion, typed: &OsStr) -> Vec<CompletionCandidate> {
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return Vec::new() };
        let records = runtime.block_on(self.read(kind)).unwrap_or_default();
        // A keychain that asks the user must not delay the end.
        runtime.shutdown_background();

        matching(&records, kind, &typed.to_string_lossy())
    }

    /// Reads the records. Returns `None` if the settings are unusable.
    async fn read(&self, kind: NameKind) -> Option<Vec<NamedRecord>> {
        let matches = (self.program)().ignore_errors(true).try_get_matches_from(&self.words).ok();
        let mut settings = Settings::read(matches.as_ref());
        let mut sandbox = None;
        if settings.wants_sandbox() {
            sandbox = Some((self.start_sandbox)(&mut settings).await.ok()?);
        }
        let caller = build_caller(&settings).ok()?;

        let lists = lists(kind);
        let reading = join_all(lists.iter().map(|list| list.read(&caller)));
        let lists = tokio::time::timeout(READ_LIMIT, reading).await.ok()?;
        // The sandbox has run until here.
        drop(sandbox);
        Some(lists.into_iter().flatten().collect())
    }
}

impl CompletedList {
    /// Returns the records of the first page of the list. A failure gives no records.
    async fn read(&self, caller: &Caller) -> Vec<NamedRecord> {
        let arguments = self.newest.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        let arguments = ToolArguments::new(arguments.collect(), CommonArguments::default());
        let reply = caller.call(self.operation, arguments).await;

        let page: ListPage<Value> = reply.map(|reply| view(reply.value())).unwrap_or_default();
        page.data.iter().filter_map(|record| self.parse(record)).collect()
    }

    fn parse(&self, record: &Value) -> Option<NamedRecord> {
        let id = record.get(self.id)?.as_str()?.to_owned();
        let name = field_at(record, self.name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(NamedRecord { id, name, detail: result_words(self.operation.name, record, &Context::default()) })
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
            let kinds = [ResultKind::Execution, ResultKind::Run].map(NameKind::Result);
            kinds.into_iter().flat_map(lists).collect()
        }
    }
}

/// Returns the candidates that begin with `typed`. An id stands for a record whose name cannot be typed, and for one of
/// several records with the same name. The name of a test or a plan stands for its newest result.
fn matching(records: &[NamedRecord], kind: NameKind, typed: &str) -> Vec<CompletionCandidate> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for record in records {
        *counts.entry(&record.name).or_default() += 1;
    }

    let mut offered = BTreeSet::new();
    let mut candidate = |NamedRecord { id, name, detail }: &NamedRecord| {
        let is_usable = can_be_typed(name);
        let by_id = || (id.clone(), described([name, detail]));
        if !typed.is_empty() && id.starts_with(typed) {
            return Some(by_id());
        }

        match kind {
            NameKind::Named(_) if is_usable && counts.get(name.as_str()) == Some(&1) => {
                Some((name.clone(), id.clone()))
            }
            NameKind::AnyResult if is_usable => {
                offered.insert(name.clone()).then(|| (name.clone(), detail.clone()))
            }
            _ => Some(by_id()),
        }
    };

    let typed = composed(typed);
    let found = records.iter().filter_map(&mut candidate);
    let found = found.filter(|(value, _)| can_be_typed(value) && composed(value).starts_with(&*typed));
    let candidates = found.map(|(value, meaning)| {
        let meaning = single_line(&visible(&meaning)).clone();
        CompletionCandidate::new(value).help(Some(meaning.into()))
    });
    candidates.take(MAX_CANDIDATES).collect()
}

fn described(parts: [&str; 2]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
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

    fn values(kind: NameKind, typed: &str) -> Vec<String> {
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
        let records = records.map(|(id, name)| NamedRecord {
            id: id.to_owned(),
            name: name.to_owned(),
            detail: String::new(),
        });
        let candidates = matching(&records, kind, typed);
        candidates.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_name_that_is_unique_and_visible_is_a_candidate_and_otherwise_the_id() {
        let (named, result) = (NameKind::Named(RecordKind::Test), NameKind::Result(ResultKind::Run));
        let ids = ["1b", "2a", "2b", "2c", "2d", "3a", "3b", "3c", "3d", "3e"];

        assert_eq!(values(named, ""), [&["Pause and resume"], &ids[..], &["Nightly"]].concat());
        assert_eq!(values(named, "Rel"), [""; 0]);
        assert_eq!(values(named, "Pau"), ["Pause and resume"]);
        assert_eq!(values(named, "1"), ["1a", "1b"]);
        assert_eq!(values(result, ""), [&["1a"], &ids[..]].concat());
        assert_eq!(values(result, "Pau"), [""; 0]);
    }

    #[test]
    fn the_name_of_a_test_or_a_plan_stands_for_its_newest_result() {
        let unsafe_names = ["2b", "2c", "2d", "3a", "3b", "3c", "3d", "3e"];

        let expected = [&["Pause and resume", "Smoke"], &unsafe_names[..], &["Nightly"]].concat();
        assert_eq!(values(NameKind::AnyResult, ""), expected);
        assert_eq!(values(NameKind::AnyResult, "2"), ["2a", "2b", "2c", "2d"]);
    }

    #[test]
    fn candidates_are_limited() {
        let record =
            |id: usize| NamedRecord { id: id.to_string(), name: String::new(), detail: String::new() };
        let records: Vec<_> = (0..=MAX_CANDIDATES).map(record).collect();
        let kind = NameKind::Named(RecordKind::Test);
        assert_eq!(matching(&records, kind, "").len(), MAX_CANDIDATES);
    }
}
