//! Prints the verdicts and writes the JUnit file.

use std::io::{Result as IoResult, Write as _};

use serde_json::{Value, json};

use super::{junit_document, result::WaitResult, verdict_table};
use crate::cli::{
    exit_status::ExitStatus,
    failure_output::OutputFormat,
    interrupted_wait::WaitSubject,
    notes::note,
    output::{print_line, print_table, print_text, prints_json, status_after_output},
    output_file::OutputFile,
};
use crate::settings::Settings;

impl WaitResult {
    /// Prints the verdicts and writes the JUnit file. Returns the exit status that the verdicts determine. An output
    /// that cannot be written replaces only the status of success.
    pub(in crate::cli) async fn output(
        self,
        subject: &WaitSubject<'_>,
        junit: Option<OutputFile>,
        format: OutputFormat,
    ) -> ExitStatus {
        let printed = self.print(subject.settings, format == OutputFormat::Json);
        let status = status_after_output(self.exit_status(), printed);
        if status == ExitStatus::TimedOut {
            note(&subject.advice());
        }

        // The file is written even if standard output is closed.
        let Some(file) = junit else { return status };
        let document = match junit_document::build(&self, subject.caller, subject.project).await {
            Ok(document) => document,
            Err(error) => return status_after_output(status, Err(error)),
        };
        match file.write(&document) {
            Ok(()) => status,
            Err(failure) => {
                format.print(&failure);
                if status == ExitStatus::Success { ExitStatus::Rejected } else { status }
            }
        }
    }

    fn print(&self, settings: &Settings, raw: bool) -> IoResult<()> {
        let table = verdict_table::table(self);
        let summary = verdict_table::summary_line(self, settings);
        if !prints_json(raw) {
            return print_table(table).and_then(|()| print_text(summary));
        }

        let mut value = json!(self.completion);
        if let (Some(started), Value::Object(fields)) = (&self.started, &mut value) {
            fields.insert("started".to_owned(), started.clone());
        }
        let printed = print_line(value);

        // The log of a CI job usually contains only standard error, so the table is printed there.
        let logged = write!(anstream::stderr(), "{}{summary}", table.with_styles());
        printed.and(logged)
    }
}
