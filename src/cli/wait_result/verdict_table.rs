//! The verdicts of a wait as a table.

use super::result::WaitResult;
use crate::{
    cli::{
        advice::next_command,
        record_table::verdict_style,
        table::{Cell, Table},
    },
    settings::Settings,
};

/// Returns the number of passed tests, and the command that explains a failure.
pub(super) fn summary_line(result: &WaitResult, settings: &Settings) -> String {
    let completion = &result.completion;
    let passed = completion.verdicts.get("SUCCESS").unwrap_or(&0);
    let total = completion.total + result.not_started.len();
    let explanation =
        completion.result_to_explain().and_then(|(_, id)| next_command(settings, &["report", id]));
    let explanation = explanation.map(|command| format!("details: {command}\n"));

    format!("{passed} of {total} passed\n{}", explanation.unwrap_or_default())
}

/// Returns a table with a row for each test.
pub(super) fn table(result: &WaitResult) -> Table {
    let mut table = Table::new(["verdict", "test", "platform", "run", "attempts", "reason"]);
    for column in [0, 3, 5] {
        table.keep_whole(column);
    }

    for item in &result.completion.items {
        let verdict = item.verdict().or_else(|| item.status.clone()).unwrap_or_default();
        let style = verdict_style(&verdict);
        table.add_row([
            Cell::from(verdict).styled(style),
            item.name().to_owned().into(),
            item.platform.clone().unwrap_or_default().into(),
            item.run_id.clone().unwrap_or_default().into(),
            item.attempts.map(|attempts| attempts.to_string()).unwrap_or_default().into(),
            item.reason.clone().unwrap_or_default().into(),
        ]);
    }

    for run in &result.not_started {
        table.add_row(notice("not started", &run.device, &run.reason));
    }

    for reason in result.unread_reasons() {
        table.add_row(notice("not read", "", &reason));
    }

    table
}

/// Returns a row about something without a verdict.
fn notice<'a>(state: &'a str, platform: &'a str, reason: &'a str) -> [Cell; 6] {
    let state_cell = Cell::from(state).styled(verdict_style(state));
    [state_cell, Cell::default(), platform.into(), Cell::default(), Cell::default(), reason.into()]
}
