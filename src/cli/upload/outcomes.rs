//! Prints the outcomes of the uploads.

use serde_json::{Value, json};

use crate::{
    cli::{
        exit_status::ExitStatus,
        failure_output::OutputFormat,
        output::{print_line, print_table, prints_json, status_after_output},
        table::Table,
    },
    failure::Failure,
    fields::Fields,
    tools::{composite::UploadBuildAnswer, upload::FinishedUpload},
};

/// The outcomes of the uploads that have ended.
pub(super) struct Outcomes {
    prints_json: bool,
    format: OutputFormat,
    /// The builds, for a terminal.
    table: Table,
    status: ExitStatus,
    printed: anyhow::Result<()>,
}

impl Outcomes {
    /// Returns an empty collection.
    pub(super) fn new(format: OutputFormat) -> Self {
        let table = Table::new(["FILE", "BUILD", "BYTES", "SECONDS"]);
        let prints_json = prints_json(format == OutputFormat::Json);
        Self { prints_json, format, table, status: ExitStatus::Success, printed: Ok(()) }
    }

    /// Adds the outcome of an upload. The first failure determines the exit status.
    pub(super) fn add(&mut self, path: String, outcome: Result<FinishedUpload, Failure>) {
        match outcome {
            Ok(finished) if self.prints_json => {
                // If standard output is closed, the other uploads continue.
                if let Err(error) = print_build(&path, finished) {
                    self.printed = Err(error);
                }
            }

            Ok(finished) => {
                let (size, seconds) = (finished.build.size.to_string(), format!("{:.1}", finished.seconds));
                self.table.add_row([path, finished.build.build_id, size, seconds]);
            }

            Err(failure) => {
                let status = self.format.print_after_requests(&failure.detail("path", path));
                if self.status == ExitStatus::Success {
                    self.status = status;
                }
            }
        }
    }

    /// Records the failure that ended the command before all uploads had ended.
    pub(super) fn stop(&mut self, failure: &Failure) {
        self.status = self.format.print(failure);
    }

    /// Prints the table on a terminal, and returns the exit status.
    pub(super) fn finish(self) -> ExitStatus {
        let status = status_after_output(self.status, self.printed);
        if self.prints_json || self.table.is_empty() {
            return status;
        }

        status_after_output(status, print_table(self.table))
    }
}

fn print_build(path: &str, build: FinishedUpload) -> anyhow::Result<()> {
    let mut line = Fields::from_iter([("path".to_owned(), json!(path))]);
    if let Value::Object(fields) = serde_json::to_value(UploadBuildAnswer::from(build))? {
        line.extend(fields);
    }
    print_line(Value::Object(line))?;
    Ok(())
}
