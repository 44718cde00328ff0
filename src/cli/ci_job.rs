//! The CI job in which a command runs: how its log is read, and from where its files are named.

use std::{
    env,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use anstream::adapter::strip_str;

/// Directories from which GitLab and Jenkins look for the files of a job.
const DIRECTORIES: [&str; 2] = ["CI_PROJECT_DIR", "WORKSPACE"];

/// What follows a first `#` where a command of a CI system begins, anywhere in a line.
const COMMANDS: [&str; 3] = ["#[", "#vso[", "#teamcity["];

static IS_JOB: LazyLock<bool> = LazyLock::new(|| {
    ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "CI"].into_iter().any(|name| variable(name).is_some())
});

/// Returns a text for standard output or standard error. A job obeys commands in its log, which texts of the service must not give.
/// A command of GitHub also begins with `::` at the start of a line, after white space.
pub(super) fn disarmed(text: &str) -> String {
    let is_command = |line: &str| *IS_JOB && strip_str(line).to_string().trim_start().starts_with("::");
    let text = with_first_sign(text, "# ");
    let lines = text.split_inclusive('\n');
    lines.map(|line| if is_command(line) { line.replacen("::", ": :", 1) } else { line.to_owned() }).collect()
}

/// As [`disarmed`], for JSON: its value stays the same, and none of its lines begins with `::`.
pub(super) fn disarmed_json(json: &str) -> String {
    with_first_sign(json, "\\u0023")
}

fn with_first_sign(text: &str, sign: &str) -> String {
    COMMANDS
        .iter()
        .filter(|_| *IS_JOB)
        .fold(text.to_owned(), |text, rest| text.replace(&format!("#{rest}"), &format!("{sign}{rest}")))
}

/// Returns the path of a file as it is looked for: from the directory of the job, if the file is there.
pub(super) fn path_in_job(path: &Path) -> PathBuf {
    let inside = |name| {
        let directory = Path::new(&variable(name)?).canonicalize().ok()?;
        path.canonicalize().ok()?.strip_prefix(directory).ok().map(Path::to_owned)
    };
    DIRECTORIES.into_iter().find_map(inside).unwrap_or_else(|| path.to_owned())
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    #[expect(clippy::disallowed_methods, reason = "the variables describe the job, and are no settings")]
    env::var_os(name).filter(|value| !value.is_empty())
}
