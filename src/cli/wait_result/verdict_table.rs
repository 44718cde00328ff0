//! The verdicts of a wait as a table.

use super::result::WaitResult;
use crate::cli::table::Table;

/// Returns a table with a row for each test, the number of passed tests, and the command that explains a failure.
pub(super) fn render(result: &WaitResult) -> String {
    let completion = &result.completion;
    let table = table(result);
    let passed = completion.verdicts.get("SUCCESS").unwrap_or(&0);
    let total = completion.total + result.not_started.len();
    let explanation = completion.result_to_explain().map(|(_, id)| format!("details: tas-mcp report {id}\n"));

    format!("{table}{passed} of {total} passed\n{}", explanation.unwrap_or_default())
}

fn table(result: &WaitResult) -> Table {
    let mut table = Table::new(["verdict", "test", "platform", "run", "attempts", "reason"]);
    for item in &result.completion.items {
        table.add_row([
            item.verdict().or_else(|| item.status.clone()).unwrap_or_default(),
            item.name().to_owned(),
            item.platform.clone().unwrap_or_default(),
            item.run_id.clone().unwrap_or_default(),
            item.attempts.map(|attempts| attempts.to_string()).unwrap_or_default(),
            item.reason.clone().unwrap_or_default(),
        ]);
    }

    for run in &result.not_started {
        table.add_row(["not started", "", &run.device, "", "", &run.reason]);
    }

    for reason in result.unread_reasons() {
        table.add_row(["not read", "", "", "", "", &reason]);
    }

    table
}
