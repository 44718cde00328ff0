//! A home directory of a test, in which commands read and change the files of a user.

use std::{fs, path::PathBuf};

use serde_json::Value;

use crate::support::binary::run_binary;

/// Variables that move the files of hosts. An empty value counts as not set.
const MOVING_VARIABLES: [&str; 2] = ["XDG_CONFIG_HOME", "FLATPAK_XDG_CONFIG_HOME"];

/// A home directory, which is empty at first.
pub(super) struct Home(tempfile::TempDir);

/// The end of a command.
pub(super) struct Outcome {
    pub(super) code: Option<i32>,
    pub(super) output: String,
    /// The output, if it is JSON.
    pub(super) printed: Value,
    pub(super) errors: String,
}

impl Home {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the variables of a command in this home directory.
    pub(super) fn variables<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let home = ("HOME", self.0.path().to_str().expect("Unicode"));
        let moving = MOVING_VARIABLES.map(|variable| (variable, ""));
        std::iter::once(home).chain(moving).chain(more.iter().copied()).collect()
    }

    /// Runs the binary.
    pub(super) async fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        self.run_with(arguments, variables, &[]).await
    }

    /// Runs the binary with these lines as its standard input.
    pub(super) async fn run_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        input: &[&str],
    ) -> Outcome {
        let output = run_binary(arguments, &self.variables(variables), input).await;

        Outcome {
            code: output.status.code(),
            printed: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            output: String::from_utf8(output.stdout).expect("UTF-8"),
            errors: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}
