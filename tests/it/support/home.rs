//! A home directory of a test, in which commands read and change the files of a user.

use std::{fs, path::PathBuf, process::Output};

use serde_json::Value;

use super::binary::run_binary;

/// Variables that move the files of hosts. An empty value counts as not set.
const MOVING_VARIABLES: [&str; 2] = ["XDG_CONFIG_HOME", "FLATPAK_XDG_CONFIG_HOME"];

/// A home directory.
pub(crate) struct Home(tempfile::TempDir);

/// The end of a command.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    /// The output, if it is JSON.
    pub(crate) printed: Value,
    pub(crate) errors: String,
}

impl Outcome {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            code: output.status.code(),
            printed: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            output: String::from_utf8(output.stdout).expect("UTF-8"),
            errors: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Home {
    /// Returns a home directory with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            let path = home.at(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("written");
        }

        home
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the variables of a command in this home directory.
    pub(crate) fn variables<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let home = ("HOME", self.0.path().to_str().expect("Unicode"));
        let moving = MOVING_VARIABLES.map(|variable| (variable, ""));
        std::iter::once(home).chain(moving).chain(more.iter().copied()).collect()
    }

    /// Runs the binary.
    pub(crate) async fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        Outcome::new(run_binary(arguments, &self.variables(variables), &[]).await)
    }
}

/// Returns one field of each printed record.
pub(crate) fn column<'a>(printed: &'a Value, name: &str) -> Vec<&'a str> {
    let records = printed.as_array().into_iter().flatten();
    records.map(|record| record[name].as_str().unwrap_or_default()).collect()
}
