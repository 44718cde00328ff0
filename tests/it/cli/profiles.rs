//! Profiles, the configuration file and the project file, in a home directory of the test.

use std::{fs, process::Output};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{
    binary::binary,
    home::{Home, column},
    service::Service,
    terminal::run_in_terminal,
};

/// The configuration file.
const FILE: &str = ".config/tas-mcp/config.toml";

const ADDRESS: &str = "https://tas.example/api/v1";

/// Returns a home directory with a configuration file, and a repository with a project file.
fn home(configuration: &str, project: &str) -> Home {
    let files = [(FILE, configuration), ("repository/.tas-mcp.toml", project)];
    let files = files.into_iter().filter(|(_, text)| !text.is_empty());
    Home::with(&files.chain([("repository/.git/HEAD", ""), ("repository/src/x", "")]).collect::<Vec<_>>())
}

/// Returns a profile for a service.
fn profile_for(service: &Service, name: &str) -> String {
    format!("[profile.{name}]\nbase_url = '{}'\n", service.base_url())
}

/// Returns the value of a setting and its origin, without the paths, as `tas-mcp config list` prints them.
fn setting(listed: &Value, name: &str) -> Option<(String, String)> {
    let found = listed.as_array().into_iter().flatten().find(|record| record["setting"] == name)?;
    let origin = found["origin"].as_str()?.split(" in ").next()?.split(" /").next()?;
    Some((found["value"].as_str()?.to_owned(), origin.to_owned()))
}

#[tokio::test]
async fn a_profile_is_created_chosen_shown_and_removed() {
    let home = home("", "");
    let set = home.run(&["config", "set", "base_url", ADDRESS], &[]).await;
    assert_eq!((set.code, &set.printed["profile"]), (Some(0), &json!("default")), "{}", set.errors);
    for (key, value) in [("project", "arena"), ("read_only", "yes"), ("timeout_s", "20")] {
        let set = home.run(&["config", "set", "--profile", "production", key, value], &[]).await;
        assert_eq!(set.code, Some(0), "{}", set.errors);
    }
    assert_eq!(
        home.text(FILE),
        format!(
            "default_profile = \"default\"\n\n[profile.default]\nbase_url = \"{ADDRESS}\"\n\n[profile.production]\nproject = \"arena\"\nread_only = true\ntimeout_s = 20\n"
        )
    );

    let other = [("TAS_PROFILE", "default"), ("TAS_PROJECT_ID", "x")];
    let used = home.run(&["profile", "use", "production"], &other).await;
    assert!(
        used.errors.contains("here, variable TAS_PROFILE chooses the profile default"),
        "{}",
        used.errors
    );
    let set = home.run(&["config", "set", "project", "y"], &other).await;
    assert!(set.errors.contains("here, variable TAS_PROJECT_ID overrides `project`"), "{}", set.errors);
    let list = home.run(&["profile", "list"], &[]).await;
    assert_eq!((used.code, column(&list.printed, "name")), (Some(0), vec!["default", "production"]));
    assert_eq!(list.printed[1]["is_active"], json!(true));
    let shown = home.run(&["profile", "show"], &[]).await;
    assert_eq!(
        shown.printed["settings"],
        json!({"project": "arena", "read_only": "true", "timeout_s": "20"})
    );

    let refused = home.run(&["profile", "remove", "production"], &[]).await;
    assert!(refused.code == Some(2) && refused.errors.contains("--yes"), "{}", refused.errors);
    let removed = home.run(&["profile", "remove", "production", "--yes"], &[]).await;
    assert_eq!(removed.code, Some(0), "{}", removed.errors);
    let left = format!("\n[profile.default]\nbase_url = \"{ADDRESS}\"\nproject = \"y\"\n");
    assert_eq!(home.text(FILE), left);
}

#[tokio::test]
async fn a_person_decides_whether_a_profile_is_removed() {
    for (answer, code, outcome) in [("n\n", 2, "not confirmed"), ("y\n", 0, "removed")] {
        let home = home("[profile.a]\n", "");
        let typed = [("Continue? [y/N]", answer)];
        let (end, screen) =
            run_in_terminal(200, &["profile", "remove", "a"], &home.variables(&[]), &typed).await;

        assert_eq!((end, home.text(FILE).is_empty()), (Some(code), code == 0), "{screen}");
        assert!(screen.contains("This removes the profile a from ") && screen.contains(outcome), "{screen}");
    }
}

#[tokio::test]
async fn each_value_is_listed_with_its_origin() {
    let configuration = format!(
        "default_profile = 'a'\n[profile.a]\nbase_url = '{ADDRESS}'\ntoolsets = 'all'\nproject = 'of-a'\n"
    );
    let home = home(&configuration, "toolsets = 'lean'\nread_only = true\n");
    let variables = [("TAS_PROJECT_ID", "of-variable"), ("TAS_API_KEY", "svc_0123456789abcdef")];

    let list = home.run_in("repository/src", &["config", "list", "--timeout-s", "9"], &variables).await;
    for (name, value, origin) in [
        ("base_url", ADDRESS, "profile a"),
        ("project", "of-variable", "variable TAS_PROJECT_ID"),
        ("toolsets", "lean", "project file"),
        ("read_only", "true", "project file"),
        ("timeout_s", "9", "flag --timeout-s"),
        ("TAS_PROFILE", "a", "configuration file"),
        ("TAS_API_KEY", "[set]", "variable TAS_API_KEY"),
    ] {
        assert_eq!(
            setting(&list.printed, name),
            Some((value.to_owned(), origin.to_owned())),
            "{}",
            list.output
        );
    }

    let get = home.run_in("repository", &["config", "get", "toolsets"], &variables).await;
    let elsewhere = home.run_in(".config", &["config", "get", "toolsets"], &variables).await;
    let path = home.run(&["config", "path"], &[]).await;
    assert_eq!((get.output.as_str(), elsewhere.output.as_str()), ("lean\n", "all\n"));
    assert_eq!(path.output.trim(), home.at(FILE).to_str().expect("Unicode"));
    let missing = home.run(&["config", "get", "max_reply_chars"], &[]).await;
    assert!(missing.code == Some(1) && missing.errors.contains("20000"), "{}", missing.errors);
}

#[tokio::test]
async fn a_profile_provides_the_account_of_a_command_and_of_the_server() {
    let service = Service::start().await;
    let home = home(&profile_for(&service, "here"), "");
    fs::write(home.at("key"), keys::DEMO).expect("written");
    let key = home.at("key").to_str().expect("Unicode").to_owned();
    let set = home.run(&["config", "set", "--profile", "here", "api_key_file", &key], &[]).await;
    assert_eq!(set.code, Some(0), "{}", set.errors);

    // The variables of another account are not mixed with those of the profile.
    let other = [("TAS_BASE_URL", ADDRESS), ("TAS_API_KEY", "svc_0123456789abcdef")];
    let runs = home.run(&["--profile", "here", "runs", "--json"], &other).await;
    assert_eq!(runs.code, Some(0), "{}", runs.errors);
    let doctor = home.run(&["doctor", "--profile", "here", "--json"], &other).await;
    let origin = doctor.printed["key_source"].as_str().expect("an origin");
    assert!(origin.starts_with("profile here in ") && origin.ends_with("config.toml"), "{origin}");

    let status = home.run(&["status"], &[("TAS_PROFILE", "here")]).await;
    assert!(status.code == Some(0) && status.output.contains("profile here in"), "{}", status.output);
}

#[tokio::test]
async fn an_unknown_profile_is_named_with_the_known_ones() {
    let home = home("[profile.a]\n[profile.b]\n", "");
    let variables = [("TAS_BASE_URL", ADDRESS), ("TAS_API_KEY", "svc_0123456789abcdef")];
    for arguments in [
        &["--profile", "c", "runs"][..],
        &["profile", "use", "c"],
        &["profile", "show", "c"],
        &["profile", "remove", "c", "--yes"],
        &["install", "cursor", "--profile", "c", "--yes"],
    ] {
        let end = home.run(arguments, &variables).await;
        assert!(end.code != Some(0) && end.errors.contains("a, b"), "{arguments:?}: {}", end.errors);
    }
}

#[tokio::test]
async fn values_and_names_that_cannot_be_used_are_refused() {
    let home = home("", "");

    for (arguments, part) in [
        (&["timeout_s", "99"][..], "from 1 to 45"),
        (&["base_url", "http://tas.example/api/v1"], "`base_url`"),
        (&["project", ""], "is empty"),
        (&["colour", "red"], "base_url, knowledge_url"),
        (&["toolset", "lean"], "`toolsets` is"),
        (&["api_key", "svc_0123456789abcdef"], "tas-mcp login"),
        (&["--profile", "a b", "project", "x"], "not the name of a profile"),
    ] {
        let end = home.run(&[&["config", "set"], arguments].concat(), &[]).await;
        assert!(end.code == Some(2) && end.errors.contains(part), "{arguments:?}: {}", end.errors);
        assert!(!end.errors.contains("svc_"), "{}", end.errors);
    }

    assert!(!home.at(FILE).exists());
}

#[tokio::test]
async fn an_unusable_file_is_one_clear_line_and_stays_as_it_is() {
    let huge = format!("# {}\n", "x".repeat(70_000));
    for (configuration, part) in [
        ("[profile.a\n", "not valid: "),
        ("[profile.a]\nproject = 'a'\nproject = 'b'\n", "near line 3"),
        ("[profile.a]\ncolour = 'svc_0123456789abcdef'\n", "line 2: `colour` is not a setting"),
        ("[profile.a]\napi_key = 'svc_0123456789abcdef'\n", "line 2: `api_key` is never"),
        ("[profile.a]\ntimeout_s = 'svc_0123456789abcdef'\n", "line 2: `timeout_s` must be"),
        (huge.as_str(), "more than 65536 bytes"),
    ] {
        let home = home(configuration, "");
        let variables = [("TAS_BASE_URL", ADDRESS), ("TAS_API_KEY", "svc_0123456789abcdef")];
        for (arguments, code) in [
            (&["runs", "--json"][..], "not_configured"),
            (&["profile", "list", "--json"], "file_error"),
            (&["config", "set", "project", "x", "--json"], "file_error"),
        ] {
            let end = home.run(arguments, &variables).await;
            let error: Value = serde_json::from_str(&end.errors).expect("JSON");
            let message = error["error"]["message"].as_str().expect("a message");

            assert_eq!((end.code, &error["error"]["code"]), (Some(2), &json!(code)), "{message}");
            assert!(message.contains(part) && message.contains("config.toml"), "{message}");
            assert!(!message.contains('\n') && !end.errors.contains("svc_"), "{message}");
        }
        assert_eq!(home.text(FILE), configuration);
    }
}

#[tokio::test]
async fn links_marks_and_line_ends_are_accepted() {
    let home = home("", "");
    fs::create_dir_all(home.at(".config/tas-mcp")).expect("a directory");
    fs::write(home.at("kept.toml"), "\u{feff}# mine\r\n[profile.a]\r\nproject = 'x' # one\r\n")
        .expect("written");
    std::os::unix::fs::symlink(home.at("kept.toml"), home.at(FILE)).expect("a link");

    let set = home.run(&["config", "set", "--profile", "a", "project", "y"], &[]).await;

    assert_eq!(set.code, Some(0), "{}", set.errors);
    assert!(home.at(FILE).is_symlink());
    assert_eq!(home.text("kept.toml"), "\u{feff}# mine\r\n[profile.a]\r\nproject = \"y\" # one\r\n");
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_one_clear_line() {
    let home = home("", "");
    fs::write(home.at(".config"), "a file").expect("written");
    for variables in [&[][..], &[("XDG_CONFIG_HOME", "/proc")]] {
        let end = home.run(&["config", "set", "project", "x"], variables).await;
        assert!(end.code == Some(2) && end.errors.contains("config.toml cannot be used"), "{}", end.errors);
        let list = home.run(&["profile", "list"], variables).await;
        assert_eq!((list.code, list.printed), (Some(0), json!([])), "{}", list.errors);
    }
}

#[tokio::test]
async fn processes_that_change_the_file_at_the_same_time_lose_nothing() {
    let home = home("", "");
    let names: Vec<_> = (0..8).map(|number| format!("p{number}")).collect();
    let set = |name: &str| {
        let arguments = ["config", "set", "--profile", name, "project", name];
        binary(&arguments, &home.variables(&[])).output()
    };

    let ends: Vec<Output> = join_all(names.iter().map(|name| set(name)))
        .await
        .into_iter()
        .map(|end| end.expect("an end"))
        .collect();
    for end in ends {
        assert!(end.status.success(), "{}", String::from_utf8_lossy(&end.stderr));
    }

    let list = home.run(&["profile", "list"], &[]).await;
    let mut found = column(&list.printed, "name");
    found.sort_unstable();
    assert_eq!(found, names);
}

#[tokio::test]
async fn a_project_file_gives_defaults_to_a_run() {
    let service = Service::start().await;
    let home = home(
        "",
        &format!(
            "project = 'demo'\n[run]\ndevice = '{}'\nbuild = '{}'\n",
            seed::CONFIG_PHONES,
            seed::BUILD_ANDROID
        ),
    );
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];

    let start =
        home.run_in("repository/src", &["run", "test", "Pause and resume", "--json"], &variables).await;
    assert_eq!(start.code, Some(0), "{}", start.errors);
    for word in ["device", "build"] {
        assert!(start.errors.contains(&format!("{word} from the project file ")), "{}", start.errors);
    }

    let flags =
        ["run", "test", "Pause and resume", "--device", seed::CONFIG_PHONES, "--build", seed::BUILD_ANDROID];
    let start = home.run_in("repository", &flags, &variables).await;
    assert!(start.code == Some(0) && !start.errors.contains("project file"), "{}", start.errors);
}

/// The repository of a stranger must not redirect a key, or name the files that are used.
#[tokio::test]
async fn a_stranger_s_project_file_redirects_nothing() {
    let service = Service::start().await;
    let configuration = profile_for(&service, "other");
    let redirecting = format!("base_url = '{}'\n", service.base_url());
    let variables = [("TAS_API_KEY", keys::DEMO)];
    let with_address = [("TAS_BASE_URL", ADDRESS), ("TAS_API_KEY", keys::DEMO)];

    for (project, variables, part) in [
        (redirecting.as_str(), &with_address[..], "`base_url` cannot be set here"),
        ("api_key_file = '/etc/passwd'\n", &with_address, "`api_key_file` cannot be set here"),
        ("files_root = '/'\n", &with_address, "`files_root` cannot be set here"),
        ("ca_file = '/etc/passwd'\n", &with_address, "`ca_file` cannot be set here"),
        ("[profile.x]\n", &with_address, "`profile` must be a text"),
        (
            "profile = 'other'\n",
            &variables,
            "the key of variable TAS_API_KEY is not sent to the address of profile other",
        ),
        ("profile = 'new'\n", &with_address, "is not a profile"),
    ] {
        let home = home(&configuration, project);
        let end = home.run_in("repository/src", &["runs"], variables).await;
        assert!(end.code == Some(2) && end.errors.contains(part), "{project}: {}", end.errors);
        assert!(!end.errors.contains(keys::DEMO), "{}", end.errors);

        // A profile is not created because a repository names it.
        let set = home.run_in("repository", &["config", "set", "project", "x"], &[]).await;
        assert!(!home.text(FILE).contains("[profile.new]"), "{}", set.errors);
    }
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn an_installed_entry_names_the_profile_and_no_value_of_it() {
    let home = home(
        &format!("default_profile = 'a'\n[profile.a]\nbase_url = '{ADDRESS}'\n[profile.b]\nproject = 'x'\n"),
        "",
    );
    let root = home.at("repository").to_str().expect("Unicode").to_owned();

    for (flags, expected) in [
        (&["--profile", "b"][..], vec!["--profile", "b", "--files-root", &root]),
        (&[], vec!["--files-root", &root]),
    ] {
        let arguments = [&["install", "cursor", "--yes"], flags].concat();
        let end = home.run_in("repository", &arguments, &[]).await;
        assert_eq!(end.code, Some(0), "{}", end.errors);
        assert_eq!(home.entry(".cursor/mcp.json", "mcpServers")["args"], json!(expected));
    }
}

#[tokio::test]
async fn a_setting_is_removed_from_a_profile() {
    let home = home("[profile.a]\nproject = 'x'\ntimeout_s = 5\n\n[profile.b]\nproject = 'y'\n", "");
    let variables = [("TAS_PROFILE", "a"), ("TAS_PROJECT_ID", "z")];
    let unset = home.run(&["config", "unset", "project"], &variables).await;

    assert_eq!(unset.code, Some(0), "{}", unset.errors);
    assert_eq!((&unset.printed["profile"], &unset.printed["setting"]), (&json!("a"), &json!("project")));
    assert!(unset.printed.get("value").is_none(), "{}", unset.printed);
    assert!(unset.errors.contains("here, variable TAS_PROJECT_ID sets `project`"), "{}", unset.errors);
    let changed = "[profile.a]\ntimeout_s = 5\n\n[profile.b]\nproject = 'y'\n";
    assert_eq!(home.text(FILE), changed);

    for (profile, key, code, part) in [
        ("a", "project", 1, "the profile `a` does not set `project`"),
        ("c", "project", 1, "has no profile `c`"),
        ("b", "colour", 2, "`colour`"),
    ] {
        let end = home.run(&["config", "unset", "--profile", profile, key], &[]).await;
        assert!(end.code == Some(code) && end.errors.contains(part), "{:?}: {}", end.code, end.errors);
        assert_eq!(home.text(FILE), changed);
    }
}

#[tokio::test]
async fn names_of_profiles_and_settings_are_completed() {
    let home = home("[profile.production]\n[profile.test]\n", "");
    for (words, expected) in [
        (&["profile", "use", "p"][..], "production\n"),
        (&["--profile", "t"], "test\n"),
        (&["config", "set", "time"], "timeout_s\n"),
        (&["config", "unset", "time"], "timeout_s\n"),
        (&["config", "g"], "get"),
    ] {
        let end = home.run(&[&["complete", "fish", "--"], words].concat(), &[]).await;
        assert!(end.output.starts_with(expected), "{words:?}: {}", end.output);
    }
}
