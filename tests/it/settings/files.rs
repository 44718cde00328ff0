//! Values of files, in a directory of the test.

use std::{fs, path::Path};

use tas_mcp::settings::{ConfigurationFile, SettingFiles, Settings};

use crate::support::service::settings_with;

type Flags<'a> = &'a [&'a str];
type Variables<'a> = &'a [(&'a str, &'a str)];
/// The address that is used, or a part of the message.
type Address<'a> = Result<&'a str, &'a str>;

/// Texts of the files and the other sources.
#[derive(Default)]
struct Sources<'a> {
    flags: Flags<'a>,
    variables: Variables<'a>,
    configuration: &'a str,
    project: &'a str,
}

const A: &str = "https://a.example/api/v1";
const B: &str = "https://b.example/api/v1";
const PROFILES: &str = "[profile.a]\nbase_url = 'https://a.example/api/v1'\nproject = 'of-a'\n";
const ADDRESS: (&str, &str) = ("TAS_BASE_URL", B);
const KEY: (&str, &str) = ("TAS_API_KEY", "svc_0123456789abcdef");

impl Sources<'_> {
    fn settings(&self) -> Settings {
        let directory = tempfile::tempdir().expect("a directory");
        let file = ConfigurationFile::in_directory(&directory.path().join(".config/tas-mcp"));
        write(file.path(), self.configuration);
        let working_directory = directory.path().join("work");
        write(&working_directory.join(".tas-mcp.toml"), self.project);

        let files = SettingFiles { configuration: Some(file), working_directory: Some(working_directory) };
        settings_with(self.flags, self.variables).with_files(&files)
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

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    if !text.is_empty() {
        fs::write(path, text).expect("written");
    }
}

#[test]
fn a_value_comes_from_the_first_source_that_has_it() {
    let (all, variable) =
        ("[profile.a]\nproject = 'of-a'\n[profile.b]\nproject = 'of-b'\n", ("TAS_PROJECT_ID", "of-variable"));
    let default = format!("default_profile = 'a'\n{all}");
    let project = "project = 'of-project'\n";
    let cases: [(Flags<'_>, Variables<'_>, &str, &str, &str, &str); 8] = [
        (&["--project", "x", "--profile", "a"], &[variable], all, project, "x", "flag --project"),
        (&["--profile", "a"], &[variable], all, project, "of-a", "profile a"),
        (&[], &[variable, ("TAS_PROFILE", "a")], all, project, "of-variable", "variable TAS_PROJECT_ID"),
        (&[], &[("TAS_PROFILE", "a")], "[profile.a]\n", project, "of-project", "project file"),
        (&[], &[("TAS_PROFILE", "b")], &default, "", "of-b", "profile b"),
        (&[], &[], &default, "", "of-a", "profile a"),
        (&[], &[], &default, "profile = 'b'\n", "of-b", "profile b"),
        (&[], &[], all, project, "of-project", "project file"),
    ];

    for (flags, variables, configuration, project, value, origin) in cases {
        let sources = Sources { flags, variables, configuration, project };
        let expected = Some((value.to_owned(), origin.to_owned()));
        assert_eq!(sources.value("TAS_PROJECT_ID"), expected, "{flags:?} {variables:?} {project}");
    }
}

#[test]
fn the_profile_is_chosen_by_the_first_source_that_names_one() {
    let configuration = "default_profile = 'd'\n[profile.a]\n[profile.b]\n[profile.c]\n[profile.d]\n";
    let (variables, project): (&[_], _) = (&[("TAS_PROFILE", "b")], "profile = 'c'\n");
    let cases: [(Flags<'_>, Variables<'_>, &str, &str, &str); 4] = [
        (&["--profile", "a"], variables, project, "a", "flag --profile"),
        (&[], variables, project, "b", "variable TAS_PROFILE"),
        (&[], &[], project, "c", "project file"),
        (&[], &[], "", "d", "configuration file"),
    ];

    for (flags, variables, project, name, origin) in cases {
        let sources = Sources { flags, variables, configuration, project };
        assert_eq!(sources.value("TAS_PROFILE"), Some((name.to_owned(), origin.to_owned())));
    }
}

#[test]
fn an_unknown_profile_and_an_unusable_file_are_problems() {
    let variables: &[_] = &[ADDRESS, KEY];
    let cases: [(&[&str], &str, &str, &[&str]); 7] = [
        (
            &["--profile", "c"],
            "[profile.a]\n[profile.b]\n",
            "",
            &["`TAS_PROFILE` (flag --profile) is not a profile", "are: a, b", "it is `c`"],
        ),
        (&["--profile", "svc_0123456789"], "", "", &["is not a profile: ", "config.toml has none"]),
        (&[], "", "profile = 'c'\n", &["(project file ", "is not a profile"]),
        (&[], "default_profile = 'c'\n", "", &["(configuration file ", "is not a profile"]),
        (&["--profile", "${P}"], "", "", &["`${P}`"]),
        (
            &[],
            "[profile.a]\ncolour = 1\n",
            "",
            &["`configuration file` (", "config.toml) cannot be used: line 2: `colour`"],
        ),
        (
            &[],
            "",
            "base_url = 'https://evil.example/api/v1'\n",
            &["`project file` (", "cannot be used: line 1: `base_url` cannot be set"],
        ),
    ];

    for (flags, configuration, project, parts) in cases {
        let message = Sources { flags, variables, configuration, project }.problem();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        assert!(!message.contains("svc_") && !message.contains("evil"), "{message}");
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
    let cases: [(Flags<'_>, Variables<'_>, &str, &str, Address<'_>); 7] = [
        (
            &["--profile", "a"],
            &[ADDRESS, KEY],
            PROFILES,
            "",
            Err("the key of variable TAS_API_KEY is not sent"),
        ),
        (
            &["--profile", "a"],
            &[("TAS_API_KEY_FILE", "/etc/hostname")],
            PROFILES,
            "",
            Err("the key of variable TAS_API_KEY_FILE"),
        ),
        (&[], &[KEY], PROFILES, "profile = 'a'\n", Err("which project file")),
        (
            &["--api-key-file", "/etc/hostname"],
            &[],
            PROFILES,
            "profile = 'a'\n",
            Err("the key of flag --api-key-file"),
        ),
        (&[], &[ADDRESS, KEY], PROFILES, "profile = 'a'\n", Ok(B)),
        (&[], &[KEY, ("TAS_PROFILE", "a")], PROFILES, "", Ok(A)),
        (&[], &[KEY], &by_default, "", Ok(A)),
    ];

    for (flags, variables, configuration, project, expected) in cases {
        let settings = Sources { flags, variables, configuration, project }.settings();
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
    assert!(
        message.contains("`api_key_file` of profile a") && message.contains("only used with"),
        "{message}"
    );
    assert_eq!(of(&[ADDRESS]).value("TAS_KNOWLEDGE_URL"), None);
    assert!(of(&[ADDRESS, KEY]).settings().tools_config().is_ok());
}

#[test]
fn a_flag_for_the_profile_replaces_the_addresses_of_variables() {
    let variables: &[_] = &[ADDRESS, ("TAS_KNOWLEDGE_URL", "https://k.example")];
    let sources =
        Sources { flags: &["--profile", "a"], variables, configuration: PROFILES, ..Sources::default() };

    assert_eq!(sources.value("TAS_BASE_URL"), Some((A.to_owned(), "profile a".to_owned())));
    assert_eq!(sources.value("TAS_KNOWLEDGE_URL"), None);
}

#[test]
fn a_project_file_does_not_permit_changes() {
    for (variables, configuration, project, is_read_only) in [
        (&[][..], "default_profile = 'a'\n[profile.a]\nread_only = true\n", "read_only = false\n", true),
        (&[("TAS_READ_ONLY", "true")], "", "read_only = false\n", true),
        (&[], "default_profile = 'a'\n[profile.a]\nread_only = false\n", "read_only = true\n", true),
        (&[], "", "", false),
    ] {
        let settings = Sources { variables, configuration, project, ..Sources::default() }.settings();
        let shown = settings.shown_values();
        let value =
            shown.iter().find(|value| value.setting == "TAS_READ_ONLY").map(|value| value.value.as_str());
        assert_eq!(value == Some("true"), is_read_only, "{configuration} {project}");
    }
}

#[test]
fn a_profile_that_a_project_file_chooses_permits_no_more_than_the_default_profile() {
    let configuration = "default_profile = 'a'\n[profile.a]\nread_only = true\nfiles_root = '/tmp'\nconfirm = 'never'\n[profile.b]\nread_only = false\nfiles_root = '/'\nconfirm = 'never'\ntoolsets = 'all'\nproject = 'of-b'\n[profile.c]\nconfirm = 'ask'\ntoolsets = 'lean'\n[profile.d]\n";
    let value = |profile: &str, setting: &str| {
        let project = format!("profile = '{profile}'\n");
        Sources { configuration, project: &project, ..Sources::default() }.value(setting)
    };

    for (profile, setting, expected) in [
        ("b", "TAS_READ_ONLY", Some(("true", "profile a"))),
        ("b", "TAS_FILES_ROOT", Some(("/tmp", "profile a"))),
        ("b", "TAS_CONFIRM", Some(("never", "profile a"))),
        ("b", "TAS_TOOLSETS", None),
        ("b", "TAS_PROJECT_ID", Some(("of-b", "profile b"))),
        ("c", "TAS_CONFIRM", Some(("ask", "profile c"))),
        ("c", "TAS_TOOLSETS", Some(("lean", "profile c"))),
        ("d", "TAS_CONFIRM", None),
    ] {
        let expected = expected.map(|(value, origin)| (value.to_owned(), origin.to_owned()));
        assert_eq!(value(profile, setting), expected, "{profile} {setting}");
    }

    // A flag of the user may choose a profile that permits more.
    let by_flag = Sources { flags: &["--profile", "b"], configuration, ..Sources::default() };
    assert_eq!(by_flag.value("TAS_READ_ONLY"), Some(("false".to_owned(), "profile b".to_owned())));
    assert_eq!(by_flag.value("TAS_FILES_ROOT"), Some(("/".to_owned(), "profile b".to_owned())));
}

/// The user permits `own` with a variable, and the profile that the project file chooses has `other`.
fn narrowed(word: &str, own: Option<&str>, other: Option<&str>) -> Option<String> {
    let name = format!("TAS_{}", word.to_uppercase());
    let variables: Vec<_> = own.map(|own| (name.as_str(), own)).into_iter().collect();
    let value = other.map(|other| if word == "read_only" { other.to_owned() } else { format!("'{other}'") });
    let configuration =
        value.map_or("[profile.b]\n".to_owned(), |value| format!("[profile.b]\n{word} = {value}\n"));

    let project = "profile = 'b'\n";
    let sources =
        Sources { variables: &variables, configuration: &configuration, project, ..Sources::default() };
    sources.value(&name).map(|(value, _)| value)
}

#[test]
fn the_stricter_value_applies() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |path: &str| directory.path().join(path).to_str().expect("Unicode").to_owned();
    fs::create_dir_all(at("a/b")).expect("a directory");
    fs::create_dir_all(at("ab")).expect("a directory");
    let (a, b, ab) = (at("a"), at("a/b"), at("ab"));

    for (word, own, other, expected) in [
        ("confirm", Some("never"), Some("never"), Some("never")),
        ("confirm", Some("never"), Some("ask"), Some("ask")),
        ("confirm", Some("never"), None, None),
        ("confirm", None, Some("never"), None),
        ("read_only", Some("false"), Some("true"), Some("true")),
        ("read_only", Some("true"), Some("false"), Some("true")),
        ("read_only", None, Some("false"), None),
        ("toolsets", None, Some("all"), None),
        ("toolsets", Some("all"), Some("lean"), Some("lean")),
        ("toolsets", Some("lean"), Some("all"), Some("lean")),
        ("toolsets", Some("get_run,get_bug"), Some("get_run,get_job"), Some("get_run")),
        ("toolsets", Some("get_run"), Some("get_job"), Some("-all")),
        ("toolsets", Some("get_run"), Some("nonsense"), Some("[unusable]")),
        ("toolsets", Some("get_run"), None, Some("get_run")),
        ("files_root", Some(&a), Some(&b), Some(&b)),
        ("files_root", Some(&b), Some(&a), Some(&b)),
        ("files_root", None, Some("/"), None),
        // Directories without a common part are no files root.
        ("files_root", Some(&ab), Some(&a), Some("[unusable]")),
        ("files_root", Some(&b), Some(&ab), Some("[unusable]")),
        ("files_root", None, Some(&a), Some("[unusable]")),
        ("files_root", Some(&a), Some("~"), Some("[unusable]")),
    ] {
        assert_eq!(narrowed(word, own, other).as_deref(), expected, "{word} {own:?} {other:?}");
    }

    let flags: &[_] = &["--toolsets", "all"];
    let sources = Sources { flags, project: "toolsets = 'lean'\n", ..Sources::default() };
    assert_eq!(sources.value("TAS_TOOLSETS").map(|(value, _)| value).as_deref(), Some("all"));
}

#[test]
fn a_project_file_does_not_widen_the_tools() {
    for (variables, configuration, project, expected) in [
        (
            &[][..],
            "default_profile = 'a'\n[profile.a]\ntoolsets = 'lean,-stop_runs'\n",
            "all",
            "lean,-stop_runs",
        ),
        (&[("TAS_TOOLSETS", "lean")], "", "all", "lean"),
        (&[("TAS_TOOLSETS", "all")], "", "lean", "lean"),
    ] {
        let project = format!("toolsets = '{project}'\n");
        let sources = Sources { variables, configuration, project: &project, ..Sources::default() };

        assert_eq!(sources.value("TAS_TOOLSETS").map(|(value, _)| value).as_deref(), Some(expected));
    }
    assert_eq!(Sources { project: "toolsets = 'all'\n", ..Sources::default() }.value("TAS_TOOLSETS"), None);
}

#[test]
fn a_project_file_with_another_project_than_that_of_the_profile_is_refused() {
    let project = "project = 'other'\n";
    let of = |variables| Sources { variables, configuration: PROFILES, project, ..Sources::default() };

    let message = of(&[KEY, ("TAS_PROFILE", "a")]).problem();
    assert!(
        message.contains("(project file ") && message.contains("is not the project `of-a` of profile a in "),
        "{message}"
    );
    let variables: &[_] = &[KEY, ("TAS_PROFILE", "a"), ("TAS_PROJECT_ID", "chosen")];
    assert!(of(variables).settings().tools_config().is_ok(), "the user chooses");
}

#[test]
fn the_sandbox_reads_no_file() {
    let sources = Sources {
        flags: &["--sandbox"],
        configuration: "not TOML",
        project: "[run]\ndevice = 'x'\n",
        ..Sources::default()
    };
    let settings = sources.settings();

    assert!(settings.run_defaults().is_none());
    assert_eq!(sources.value("TAS_PROFILE"), None);
    assert!(!sources.problem().contains("configuration file"));
}
