//! Prints the answer of a tool: the records of a list as rows, other answers as JSON. A list is followed by what it does not
//! show.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
};

use clap::ArgMatches;
use futures_util::future::join_all;
use serde_json::Value;

use super::{
    columns::{Context, field_table, plain_table, plain_text, record_table},
    exit_status::{CommandError, ExitStatus},
    output::{Output, Shown, note, print_table},
    table::Table,
};
use crate::{
    call::Caller,
    fields::field_at,
    service::{
        api::{
            Uuid,
            builds::GetBuild,
            jobs::{Job, ListJobs},
        },
        lenient::view,
        operation::Operation as _,
        tool::{FIELDS, PROJECT_ID, ToolDefinition},
    },
    text::filled,
    tools::{project_client::ProjectClient, unread::Omission},
};

/// Lines of the terminal beside the rows of a list that is watched: the header and the cursor.
const OTHER_LINES: usize = 3;

/// Moves the cursor of a terminal to its first line, and clears everything below.
const CLEAR: &str = "\u{1b}[H\u{1b}[J";

pub(super) struct RecordPrinter<'a> {
    tool: &'static ToolDefinition,
    output: &'a Output,
    /// The fields that the user wants; empty for all.
    fields: Vec<&'a str>,
    project: Option<String>,
}

impl<'a> RecordPrinter<'a> {
    pub(super) fn new(tool: &'static ToolDefinition, matches: &'a ArgMatches, output: &'a Output) -> Self {
        let fields = matches.try_get_many::<String>(FIELDS).ok().flatten().into_iter().flatten();
        let fields = fields.flat_map(|names| names.split(',')).map(str::trim).collect();
        let project = matches.try_get_one::<String>(PROJECT_ID).ok().flatten().cloned();

        Self { tool, output, fields, project }
    }

    pub(super) async fn print(&self, caller: &Caller, answer: &Value) -> Result<ExitStatus, CommandError> {
        if !self.output.has_rows() {
            return self.output.print(ExitStatus::Success, answer, String::new);
        }

        let shown = self.shown(caller, answer).await;
        let status = self.output.print(ExitStatus::Success, answer, || shown)?;
        note_rest(answer);
        Ok(status)
    }

    async fn shown(&self, caller: &Caller, answer: &Value) -> Shown {
        match answer.get("data").and_then(Value::as_array).map(Vec::as_slice) {
            Some(records) if records.first().is_some_and(Value::is_object) => {
                Shown::Table(self.table(caller, records).await)
            }
            Some([]) => {
                if self.output.is_text() {
                    note("no records");
                }
                Shown::Table(Table::default())
            }
            _ if self.output.is_for_programs() => Shown::Table(plain_table(std::slice::from_ref(answer))),
            // A row would lack what is nested, such as the steps of a run.
            _ => Shown::Json(format!("{answer:#}")),
        }
    }

    async fn table(&self, caller: &Caller, records: &[Value]) -> Table {
        if !self.fields.is_empty() {
            return field_table(&self.fields, records);
        }

        let mut context = Context::default();
        if self.tool.name == ListJobs::NAME {
            let client = ProjectClient { caller: caller.clone(), project: self.project.clone() };
            let ids: BTreeSet<_> = records.iter().filter_map(|job| view::<Job>(job).build_id).collect();
            context.build_names = build_names(&client, ids).await;
        }

        record_table(self.tool.name, records, &context).unwrap_or_else(|| plain_table(records))
    }

    pub(super) fn redraws(&self) -> bool {
        self.output.is_text()
    }

    pub(super) async fn draw(&self, caller: &Caller, answer: &Value) -> std::io::Result<()> {
        let (height, _) = console::Term::stdout().size();
        let mut table = self.table(caller, records(answer)).await;
        table.truncate(usize::from(height).saturating_sub(OTHER_LINES).max(1));

        write!(std::io::stdout(), "{CLEAR}")?;
        print_table(table)?;
        std::io::stdout().flush()
    }

    pub(super) fn id(&self, record: &Value) -> String {
        let id = self.tool.records.and_then(|keys| field_at(record, keys.id));
        id.map(plain_text).unwrap_or_default()
    }
}

pub(super) fn records(answer: &Value) -> &[Value] {
    answer.get("data").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Reads the names of builds. The result lacks the builds that cannot be read.
async fn build_names(client: &ProjectClient, ids: BTreeSet<String>) -> BTreeMap<String, String> {
    let reads = ids.into_iter().map(|id| async move {
        let build = client.call(&GetBuild { build_id: Uuid(id.clone()) }).await.ok()?;
        Some((id, filled(&build.view::<GetBuild>().build.name)?))
    });
    join_all(reads).await.into_iter().flatten().collect()
}

/// Says what the rows do not show: further records, and pages that could not be read.
fn note_rest(answer: &Value) {
    let number = |path: &str| answer.pointer(path).and_then(Value::as_u64);
    if let (Some(next), Some(total)) = (number("/next/page"), number("/pagination/total_count")) {
        note(&format!("{total} records in total; next: --page {next}"));
    }

    let shown = records(answer).len();
    if let Some(total) = number("/total_count").filter(|total| *total > shown as u64) {
        note(&format!("{shown} of {total} records; more: --limit {}", total.min(5_000)));
    }

    for omission in answer.get("unread").and_then(Value::as_array).into_iter().flatten() {
        let omission: Omission = serde_json::from_value(omission.clone()).unwrap_or_default();
        note(&format!("not read: {}: {}", omission.what, omission.why));
    }
}
