//! Values of profiles, in a directory of the test.

use std::fs;

use tas_mcp::settings::{ConfigurationFile, Settings};

use crate::support::service::settings_with;

type Flags<'a> = &'a [&'a str];
type Variables<'a> = &'a [(&'a str, &'a str)];
/// The address that is used, or a part of the message.
type Address<'a> = Result<&'a str, &'a str>;

/// The configuration file and the other sources.
#[derive(Default)]
struct Sources<'a> {
    flags: Flags<'a>,
    variables: Variables<'a>,
    configuration: &'a str,
}

const A: &str = "https://a.example/api/v1";
const B: &str = "https://b.example/api/v1";
const PROFILES: &str = "[profile.a]\nbase_url = 'https://a.example/api/v1'\nproject = 'of-a'\n";
const ADDRESS: (&str, &str) = ("TAS_BASE_URL", B);
const KEY: (&str, &str) = ("TAS_API_KEY", "svc_0123456789abcdef");

impl Sources<'_> {
    fn settings(&self) -> Settings {
        let directory = tempfile::tempdir().expect("a directory");
        let file = ConfigurationFile::in_directory(directory.path());
        fs::write(file.path(), self.configuration).expect("written");
        settings_with(self.flags, self.variables).with_configuration(&file)
    }

    /// Returns the value of a setting with the first words of its origin.
    fn value(&self, setting: &str) -> Option<(String, String)> {
        let shown = self.settings().shown_values();
        let shown = shown.into_iter().find(|shown| shown.setting == setting)?;
        let origin: Vec<_> = shown.origin.split(' ').take(2).collect();
        Some((shown.value, origin.join(" ")))
    }

    /// Returns the message about unusable settings.
    fn problem(&self) -> String {
        self.settings().tools_config().expect_err("a problem").message
    }
}

#[test]
fn a_value_comes_from_the_first_source_that_has_it() {
    let (all, variable) =
        ("[profile.a]\nproject = 'of-a'\n[profile.b]\nproject = 'of-b'\n", ("TAS_PROJECT_ID", "of-variable"));
    let default = format!("default_profile = 'a'\n{all}");
    let cases: [(Flags<'_>, Variables<'_>, &str, &str, &str); 5] = [
        (&["--project", "x", "--profile", "a"], &[variable], all, "x", "flag --project"),
        (&["--profile", "a"], &[variable], all, "of-a", "profile a"),
        (&[], &[variable, ("TAS_PROFILE", "a")], all, "of-variable", "variable TAS_PROJECT_ID"),
        (&[], &[("TAS_PROFILE", "b")], &default, "of-b", "profile b"),
        (&[], &[], &default, "of-a", "profile a"),
    ];

    for (flags, variables, configuration, value, origin) in cases {
        let sources = Sources { flags, variables, configuration };
        let expected = Some((value.to_owned(), origin.to_owned()));
        assert_eq!(sources.value("TAS_PROJECT_ID"), expected, "{flags:?} {variables:?}");
    }
}

#[test]
fn an_unknown_profile_and_an_unusable_file_are_problems() {
    let variables: &[_] = &[ADDRESS, KEY];
    let cases: [(&[&str], &str, &[&str]); 5] = [
        (
            &["--profile", "c"],
            "[profile.a]\n[profile.b]\n",
            &["`TAS_PROFILE` (flag --profile) is not a profile", "are: a, b"],
        ),
        (&["--profile", "c"], "", &["is not a profile: ", "config.toml has none"]),
        (&[], "default_profile = 'c'\n", &["(configuration file ", "is not a profile"]),
        (&["--profile", "${P}"], "", &["`${P}`"]),
        (
            &[],
            "[profile.a]\ncolour = 1\n",
            &["`configuration file` (", "config.toml) cannot be used: line 2: `colour`"],
        ),
    ];

    for (flags, configuration, parts) in cases {
        let message = Sources { flags, variables, configuration }.problem();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn an_unusable_value_of_a_profile_names_the_profile() {
    let configuration =
        "default_profile = 'a'\n[profile.a]\nbase_url = 'https://a.example/api/v1'\ntimeout_s = 99\n";
    let message = Sources { variables: &[KEY], configuration, ..Sources::default() }.problem();
    assert!(
        message.contains("`TAS_TIMEOUT_S` (profile a in ") && message.contains("from 1 to 45"),
        "{message}"
    );
}

/// A key is only sent to the address that it was given with.
#[test]
fn the_key_of_another_place_is_not_sent_to_the_address_of_a_profile() {
    let by_default = format!("default_profile = 'a'\n{PROFILES}");
    let cases: [(Flags<'_>, Variables<'_>, &str, Address<'_>); 4] = [
        (
            &["--profile", "a"],
            &[ADDRESS, KEY],
            PROFILES,
            Err("the key of variable TAS_API_KEY is not sent to the address of profile a in "),
        ),
        (
            &["--profile", "a"],
            &[("TAS_API_KEY_FILE", "/etc/hostname")],
            PROFILES,
            Err("the key of variable TAS_API_KEY_FILE"),
        ),
        (&[], &[KEY, ("TAS_PROFILE", "a")], PROFILES, Ok(A)),
        (&[], &[KEY], &by_default, Ok(A)),
    ];

    for (flags, variables, configuration, expected) in cases {
        let settings = Sources { flags, variables, configuration }.settings();
        match (settings.tools_config(), expected) {
            (Ok(config), Ok(address)) => assert_eq!(config.call.client.base_url.as_str(), address),
            (Err(failure), Err(part)) => {
                assert!(failure.message.contains(part), "{}", failure.message);
                assert!(!failure.to_json().contains(KEY.1), "{}", failure.message);
            }
            (config, _) => panic!("{flags:?} {variables:?}: {:?}", config.map(drop)),
        }
    }
}

#[test]
fn the_key_file_of_a_profile_is_not_sent_to_another_address() {
    let directory = tempfile::tempdir().expect("a directory");
    let key = directory.path().join("key");
    fs::write(&key, KEY.1).expect("written");
    let configuration = format!(
        "default_profile = 'a'\n{PROFILES}knowledge_url = 'https://k.example'\napi_key_file = {:?}\n",
        key.to_str().expect("Unicode")
    );
    let of = |variables| Sources { variables, configuration: &configuration, ..Sources::default() };

    assert!(of(&[]).settings().tools_config().is_ok());
    let message = of(&[ADDRESS]).problem();
    assert!(message.contains("`api_key_file` of the profile is only used with"), "{message}");
    assert_eq!(of(&[ADDRESS]).value("TAS_KNOWLEDGE_URL"), None);
    assert!(of(&[ADDRESS, KEY]).settings().tools_config().is_ok());
}

#[test]
fn a_flag_for_the_profile_replaces_the_addresses_of_variables() {
    let variables: &[_] = &[ADDRESS, ("TAS_KNOWLEDGE_URL", "https://k.example")];
    let sources = Sources { flags: &["--profile", "a"], variables, configuration: PROFILES };

    assert_eq!(sources.value("TAS_BASE_URL"), Some((A.to_owned(), "profile a".to_owned())));
    assert_eq!(sources.value("TAS_KNOWLEDGE_URL"), None);
}

#[test]
fn the_sandbox_reads_no_file() {
    let sources =
        Sources { flags: &["--sandbox"], configuration: "default_profile = 'not TOML", ..Sources::default() };

    assert_eq!(sources.value("TAS_PROFILE"), None);
    assert!(!sources.problem().contains("configuration file"));
}
