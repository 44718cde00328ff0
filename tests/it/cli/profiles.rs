//! Profiles and the configuration file, in a home directory of the test.

use std::fs;

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::home::Home;
use crate::support::service::Service;

/// The configuration file.
const FILE: &str = ".config/tas-mcp/config.toml";

const ADDRESS: &str = "https://tas.example/api/v1";

/// Returns a home directory with a configuration file, unless it is empty.
fn home(configuration: &str) -> Home {
    let home = Home::new();
    if !configuration.is_empty() {
        fs::create_dir_all(home.at(".config/tas-mcp")).expect("a directory");
        fs::write(home.at(FILE), configuration).expect("written");
    }
    home
}

/// Returns a profile for a service.
fn profile_for(service: &Service, name: &str) -> String {
    format!("[profile.{name}]\nbase_url = '{}'\n", service.base_url())
}

/// Returns the value of a setting and its origin, without the paths, as `tas-mcp status` prints them.
fn setting(listed: &Value, name: &str) -> Option<(String, String)> {
    let found =
        listed["settings"].as_array().into_iter().flatten().find(|record| record["setting"] == name)?;
    let origin = found["origin"].as_str()?.split(" in ").next()?.split(" /").next()?;
    Some((found["value"].as_str()?.to_owned(), origin.to_owned()))
}

#[tokio::test]
async fn a_profile_is_listed_chosen_and_removed() {
    let other = format!("[profile.other]\nbase_url = \"{ADDRESS}\"\n");
    let home = home(&format!("{other}\n[profile.production]\nproject = \"arena\"\n"));

    let used = home.run(&["profile", "use", "production"], &[("TAS_PROFILE", "other")]).await;
    assert_eq!(used.code, Some(0), "{}", used.errors);
    assert!(used.errors.contains("here, variable TAS_PROFILE chooses the profile other"), "{}", used.errors);

    let status = home.run(&["status", "--json"], &[]).await;
    let accounts = &status.printed["accounts"];
    assert_eq!([&accounts[0]["name"], &accounts[1]["name"]], ["other", "production"], "{accounts}");
    assert_eq!(accounts[1]["is_active"], true, "{accounts}");

    let removed = home.run(&["logout", "--profile", "production", "--json"], &[]).await;
    assert_eq!((removed.code, &removed.printed["removed_profile"]), (Some(0), &json!(true)));
    assert!(removed.errors.contains("there is no default profile now"), "{}", removed.errors);
    assert_eq!(home.text(FILE), other);
}

#[tokio::test]
async fn each_value_is_listed_with_its_origin() {
    let configuration = format!(
        "default_profile = 'a'\n[profile.a]\nbase_url = '{ADDRESS}'\ntoolsets = 'all'\nproject = 'of-a'\n"
    );
    let home = home(&configuration);
    let variables = [("TAS_PROJECT_ID", "of-variable"), ("TAS_API_KEY", "svc_0123456789abcdef")];

    let status = home.run(&["status", "--json", "--timeout-s", "1"], &variables).await;
    for (name, value, origin) in [
        ("TAS_BASE_URL", ADDRESS, "profile a"),
        ("TAS_PROJECT_ID", "of-variable", "variable TAS_PROJECT_ID"),
        ("TAS_TOOLSETS", "all", "profile a"),
        ("TAS_TIMEOUT_S", "1", "flag --timeout-s"),
        ("TAS_PROFILE", "a", "configuration file"),
        ("TAS_API_KEY", "[set]", "variable TAS_API_KEY"),
    ] {
        assert_eq!(
            setting(&status.printed, name),
            Some((value.to_owned(), origin.to_owned())),
            "{}",
            status.output
        );
    }
}

#[tokio::test]
async fn a_profile_provides_the_account_of_a_command_and_of_the_server() {
    let service = Service::start().await;
    let home = home(&profile_for(&service, "here"));
    fs::write(home.at("key"), keys::DEMO).expect("written");
    let profile = format!("{}api_key_file = '{}'\n", home.text(FILE), home.at("key").display());
    fs::write(home.at(FILE), profile).expect("written");

    // The variables of another account are not mixed with those of the profile.
    let other = [("TAS_BASE_URL", ADDRESS), ("TAS_API_KEY", "svc_0123456789abcdef")];
    let runs = home.run(&["--profile", "here", "runs", "--json"], &other).await;
    assert_eq!(runs.code, Some(0), "{}", runs.errors);
    let shown = home.run(&["status", "--profile", "here", "--json"], &other).await;
    let origin = shown.printed["key_source"].as_str().expect("an origin");
    assert!(origin.starts_with("profile here in ") && origin.ends_with("config.toml"), "{origin}");

    let status = home.run(&["status"], &[("TAS_PROFILE", "here")]).await;
    assert!(status.code == Some(0) && status.output.contains("profile here in"), "{}", status.output);
}

#[tokio::test]
async fn an_unknown_profile_is_named_with_the_known_ones() {
    let home = home("[profile.a]\n[profile.b]\n");
    let variables = [("TAS_BASE_URL", ADDRESS), ("TAS_API_KEY", "svc_0123456789abcdef")];
    for arguments in [&["--profile", "c", "runs"][..], &["profile", "use", "c"]] {
        let end = home.run(arguments, &variables).await;
        assert!(end.code != Some(0) && end.errors.contains("a, b"), "{arguments:?}: {}", end.errors);
    }
}

#[tokio::test]
async fn a_text_that_is_no_name_of_a_profile_is_refused() {
    let home = home("");

    let end = home.run(&["login", "--with-key", "--base-url", ADDRESS, "--profile", "a b"], &[]).await;

    assert!(end.code == Some(2) && end.errors.contains("not the name of a profile"), "{}", end.errors);
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
        let home = home(configuration);
        let variables = [("TAS_BASE_URL", ADDRESS), ("TAS_API_KEY", "svc_0123456789abcdef")];
        for (arguments, code) in
            [(&["runs", "--json"][..], "not_configured"), (&["profile", "use", "a", "--json"], "file_error")]
        {
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
async fn a_link_to_a_file_with_comments_is_followed() {
    let home = home("");
    fs::create_dir_all(home.at(".config/tas-mcp")).expect("a directory");
    fs::write(home.at("kept.toml"), "# mine\n[profile.a]\nproject = 'x' # one\n").expect("written");
    std::os::unix::fs::symlink(home.at("kept.toml"), home.at(FILE)).expect("a link");

    let used = home.run(&["profile", "use", "a"], &[]).await;

    assert_eq!(used.code, Some(0), "{}", used.errors);
    assert!(home.at(FILE).is_symlink());
    let expected = "default_profile = \"a\"\n# mine\n[profile.a]\nproject = 'x' # one\n";
    assert_eq!(home.text("kept.toml"), expected);
}

#[tokio::test]
async fn a_user_without_a_usable_directory_has_no_profiles() {
    let home = home("");
    fs::write(home.at(".config"), "a file").expect("written");

    for variables in [&[][..], &[("XDG_CONFIG_HOME", "/proc")]] {
        let used = home.run(&["profile", "use", "a"], variables).await;
        assert!(used.code == Some(1) && used.errors.contains("there are none"), "{}", used.errors);
    }
}

#[tokio::test]
async fn an_installed_entry_names_the_profile_and_no_value_of_it() {
    let home = home(&format!(
        "default_profile = 'a'\n[profile.a]\nbase_url = '{ADDRESS}'\n[profile.b]\nproject = 'x'\n"
    ));
    let end = home.run(&["install", "cursor", "--profile", "b"], &[]).await;
    assert_eq!(end.printed["mcpServers"]["tas"]["args"], json!(["--profile", "b"]), "{}", end.errors);
}

#[tokio::test]
async fn names_of_profiles_are_completed() {
    let home = home("[profile.production]\n[profile.test]\n");
    for (words, expected) in [(&["profile", "use", "p"][..], "production\n"), (&["--profile", "t"], "test\n")]
    {
        let end = home.run(&[&["--", "tas-mcp"], words].concat(), &[("TAS_COMPLETE", "fish")]).await;
        assert!(end.output.starts_with(expected), "{words:?}: {}", end.output);
    }
}
