//! Prints the verdicts and writes the JUnit file.

use std::io::{Result as IoResult, Write as _};

use serde_json::{Value, json};

use super::{junit_document, result::WaitResult, verdict_table};
use crate::{
    call::gateway::Gateway,
    cli::{
        exit_status::ExitStatus,
        failure_output::print_failure,
        output::{print_line, print_text, prints_json, status_after_output},
        output_file::OutputFile,
    },
};

impl WaitResult {
    /// Prints the verdicts and writes the JUnit file. Returns the exit status that the verdicts determine. An output that
    /// cannot be written replaces only the status of success.
    pub(in crate::cli) async fn output(
        self,
        gateway: &Gateway,
        project: Option<&str>,
        junit: Option<OutputFile>,
        raw: bool,
    ) -> ExitStatus {
        let printed = self.print(raw);
        let status = status_after_output(self.exit_status(), printed);

        // The file is written even if standard output is closed.
        let Some(file) = junit else { return status };
        let document = match junit_document::build(&self, gateway, project).await {
            Ok(document) => document,
            Err(error) => return status_after_output(status, Err(error)),
        };
        match file.write(&document) {
            Ok(()) => status,
            Err(failure) => {
                print_failure(&failure);
                if status == ExitStatus::Success { ExitStatus::Rejected } else { status }
            }
        }
    }

    fn print(&self, raw: bool) -> IoResult<()> {
        let table = verdict_table::render(self);
        if !prints_json(raw) {
            return print_text(table);
        }

        let mut value = json!(self.completion);
        if let (Some(started), Value::Object(fields)) = (&self.started, &mut value) {
            fields.insert("started".to_owned(), started.clone());
        }
        let printed = print_line(value);

        // The log of a CI job usually contains only standard error, so the table is printed there.
        let logged = write!(anstream::stderr(), "{table}");
        printed.and(logged)
    }
}
