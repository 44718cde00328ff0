//! What a person, or a program, reads of the uploads.

use std::io::{IsTerminal as _, Write as _};

use serde_json::{Value, json};

use crate::{
    cli::{Exit, complain, complain_late, table::Table},
    failure::Failure,
    fields::Fields,
    tools::{composite::BuildUpload, upload::FinishedUpload},
};

/// What has come of the files so far.
pub(super) struct Told {
    is_piped: bool,
    table: Table,
    exit: Exit,
    printed: anyhow::Result<()>,
}

impl Told {
    pub(super) fn new() -> Self {
        let table = Table::new(["FILE", "BUILD", "BYTES", "SECONDS"]);
        Self { is_piped: !std::io::stdout().is_terminal(), table, exit: Exit::Done, printed: Ok(()) }
    }

    /// One has ended.
    pub(super) fn tell(&mut self, path: String, outcome: Result<FinishedUpload, Failure>) {
        match outcome {
            Ok(build) if self.is_piped => {
                // The other uploads go on, whoever reads.
                if let Err(error) = print(&path, build) {
                    self.printed = Err(error);
                }
            }
            Ok(build) => {
                let (size, seconds) = (build.size.to_string(), format!("{:.1}", build.seconds));
                self.table.row([path, build.build_id, size, seconds]);
            }
            Err(failure) => {
                let ended = complain_late(&failure.detail("path", path));
                self.exit = if self.exit == Exit::Done { ended } else { self.exit };
            }
        }
    }

    /// Nothing more is waited for.
    pub(super) fn stop(&mut self, failure: &Failure) {
        self.exit = complain(failure);
    }

    /// Says the rest.
    pub(super) fn end(self) -> anyhow::Result<Exit> {
        self.printed?;
        if !self.is_piped && !self.table.is_empty() {
            write!(anstream::stdout(), "{}", self.table)?;
        }
        Ok(self.exit)
    }
}

fn print(path: &str, build: FinishedUpload) -> anyhow::Result<()> {
    let mut line = Fields::from_iter([("path".to_owned(), json!(path))]);
    if let Value::Object(shown) = serde_json::to_value(BuildUpload::from(build))? {
        line.extend(shown);
    }
    writeln!(anstream::stdout(), "{}", Value::Object(line))?;
    Ok(())
}
