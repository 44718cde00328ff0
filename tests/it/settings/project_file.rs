//! The project file: where it is, and what it may contain.

use std::{fs, path::Path};

use tas_mcp::settings::{RunDefaults, SettingFiles, Settings};

use crate::support::service::settings;

/// Name of the file.
const NAME: &str = ".tas-mcp.toml";

/// Returns the settings of a process in this directory.
fn in_directory(directory: &Path) -> Settings {
    let files = SettingFiles { configuration: None, working_directory: Some(directory.to_owned()) };
    settings(&[]).with_files(&files)
}

/// Returns the values that are not from the command line or the environment.
fn values(directory: &Path) -> Vec<(&'static str, String)> {
    let shown = in_directory(directory).shown_values();
    shown.into_iter().map(|value| (value.setting, value.value)).collect()
}

#[test]
fn the_file_chooses_and_narrows() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "project = 'p'\ntoolsets = 'lean'\nread_only = true\n[run]\ndevice = 'd'\nbuild = 'latest'\n";
    fs::write(directory.path().join(NAME), text).expect("written");

    let expected = [("TAS_PROJECT_ID", "p"), ("TAS_READ_ONLY", "true"), ("TAS_TOOLSETS", "lean")];
    assert_eq!(values(directory.path()), expected.map(|(name, value)| (name, value.to_owned())));
    let settings = in_directory(directory.path());
    let (defaults, _) = settings.run_defaults().expect("defaults");
    assert_eq!(*defaults, RunDefaults { device: Some("d".to_owned()), build: Some("latest".to_owned()) });

    fs::write(directory.path().join(NAME), "read_only = false").expect("written");
    assert!(values(directory.path()).is_empty());
}

#[test]
fn everything_else_is_refused_with_its_line() {
    for (text, line, part) in [
        ("project = 'p'\nbase_url = 'https://evil.example/api/v1'\n", "line 2", "`base_url` cannot be set"),
        ("api_key_file = '/etc/passwd'\n", "line 1", "`api_key_file` cannot be set"),
        ("api_key = 'svc_secret'\n", "line 1", "`api_key` cannot be set"),
        ("\nfiles_root = '/'\n", "line 2", "`files_root` cannot be set"),
        ("ca_file = '/tmp/ca'\n", "line 1", "`ca_file` cannot be set"),
        ("confirm = 'never'\n", "line 1", "`confirm` cannot be set"),
        ("[profile.a]\nbase_url = 'https://evil.example/api/v1'\n", "line 1", "`profile` must be a text"),
        ("[run]\ncommand = 'x'\n", "line 2", "`command` is not a default of `run`"),
        ("[run]\ndevice = ['x']\n", "line 2", "`device` must be a text"),
        ("run = 1\n", "line 1", "`run` must be a table"),
        ("read_only = 'no'\n", "line 1", "`read_only` must be true or false"),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(NAME), text).expect("written");
        let problem = in_directory(directory.path()).tools_config().expect_err("a problem").message;
        assert!(problem.contains(line) && problem.contains(part), "{problem}");
        assert!(!problem.contains("evil") && !problem.contains("svc_secret"), "{problem}");
    }
}

#[test]
fn the_file_is_at_the_root_of_the_repository_or_in_the_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let (root, below) = (directory.path().join("game"), directory.path().join("game/src/level"));
    fs::create_dir_all(&below).expect("a directory");
    fs::write(root.join(NAME), "project = 'of-root'").expect("written");
    fs::write(below.join(NAME), "project = 'of-directory'").expect("written");
    let project = |directory: &Path| in_directory(directory).project().map(str::to_owned);
    assert_eq!(project(&below).as_deref(), Some("of-directory"));

    fs::write(root.join(".git"), "gitdir: elsewhere").expect("written");
    assert_eq!(project(&below).as_deref(), Some("of-root"));
    assert_eq!(project(&root).as_deref(), Some("of-root"));
}

/// Files of another user need another user: only the superuser can give files away.
#[cfg(unix)]
#[test]
fn a_file_among_things_of_another_user_does_not_count() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(NAME);
    fs::write(&path, "project = 'p'").expect("written");
    assert_eq!(in_directory(directory.path()).ignored_project_file(), None);
    if !rustix::process::geteuid().is_root() {
        return;
    }

    std::os::unix::fs::chown(&path, Some(12_345), None).expect("given away");
    let settings = in_directory(directory.path());
    let reason = settings.ignored_project_file().expect("a reason");
    assert!(reason.contains("belongs to another user") && settings.project().is_none(), "{reason}");
}

#[test]
fn a_file_that_is_no_regular_file_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(NAME);
    let problem = || in_directory(directory.path()).tools_config().expect_err("no address").message;
    assert!(!problem().contains("project file"));

    fs::create_dir(&path).expect("a directory");
    assert!(problem().contains("not a regular file"), "{}", problem());

    #[cfg(unix)]
    {
        fs::remove_dir(&path).expect("removed");
        std::os::unix::fs::symlink("/etc/hostname", &path).expect("a link");
        assert!(problem().contains("not a regular file"), "{}", problem());
    }
}
