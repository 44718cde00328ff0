//! The configuration file of the user: what it may contain, and how it is changed.

use std::{fs, path::Path};

use tas_mcp::{
    failure::Code,
    settings::{Configuration, ConfigurationFile, ProfileValue},
};

use crate::support::service::settings_with;

/// A change of the file.
type Change<'a> = &'a dyn Fn(&ConfigurationFile);

fn file_of(home: &Path) -> ConfigurationFile {
    ConfigurationFile::in_directory(&home.join(".config/tas-mcp"))
}

fn file_in(home: &Path, text: &str) -> ConfigurationFile {
    let file = file_of(home);
    fs::create_dir_all(file.path().parent().expect("a directory")).expect("a directory");
    fs::write(file.path(), text).expect("written");
    file
}

/// Returns the values that the profile of an account gets from these flags.
fn values(flags: &[&str]) -> Vec<ProfileValue> {
    settings_with(flags, &[]).profile_values(None, Path::new("/")).expect("values")
}

fn read(text: &str) -> Result<Configuration, String> {
    let home = tempfile::tempdir().expect("a directory");
    file_in(home.path(), text).read().map_err(|error| error.to_string())
}

#[test]
fn a_change_leaves_the_rest_of_the_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let set = |file: &ConfigurationFile| file.set_values("a", &values(&["--timeout-s", "5"])).expect("set");
    let remove = |file: &ConfigurationFile| file.remove_profile("a").expect("removed");
    let choose = |file: &ConfigurationFile| file.set_default_profile("b").expect("chosen");
    let cases: [(&str, Change<'_>, &str); 6] = [
        ("", &set, "[profile.a]\ntimeout_s = 5\n"),
        (
            "# mine\n[profile.a]\ntimeout_s = 1\nproject = 'x' # one\n",
            &set,
            "# mine\n[profile.a]\ntimeout_s = 5\nproject = 'x' # one\n",
        ),
        ("profile = {b = {}}\n", &set, "profile = {b = {}, a = { timeout_s = 5 } }\n"),
        ("default_profile = 'a'\n[profile.a]\n# two\n[profile.b]\n", &remove, "# two\n[profile.b]\n"),
        ("[profile.b]\n", &remove, "[profile.b]\n"),
        ("# mine\n[profile.b]\n", &choose, "default_profile = \"b\"\n# mine\n[profile.b]\n"),
    ];

    for (text, change, expected) in cases {
        let file = file_in(directory.path(), text);
        change(&file);
        assert_eq!(fs::read_to_string(file.path()).expect("a file"), expected);
    }
}

#[test]
fn the_profile_of_an_account_gets_the_usable_values_of_flags() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().to_str().expect("Unicode");

    for (flag, text, expected) in [
        ("--timeout-s", " 20 ", Ok("timeout_s = 20")),
        ("--timeout-s", "99", Err("`timeout_s` must be a whole number from 1 to 45")),
        ("--base-url", "http://tas.example/api/v1", Err("`base_url` ")),
        ("--toolsets", "nonsense", Err("`toolsets` ")),
        ("--files-root", root, Ok(root)),
        ("--files-root", "/nowhere", Err("`files_root` ")),
        ("--state-dir", "state", Ok("/state")),
        ("--confirm", "never", Ok("confirm = \"never\"")),
    ] {
        let values = settings_with(&[flag, text], &[]).profile_values(None, directory.path());
        match (values, expected) {
            (Ok(values), Ok(expected)) => {
                let file = file_in(directory.path(), "");
                file.set_values("a", &values).expect("set");
                let written = fs::read_to_string(file.path()).expect("a file");
                assert!(written.contains(expected), "{written}");
            }
            (Err(failure), Err(part)) => {
                assert_eq!(failure.code, Code::InvalidArguments);
                assert!(failure.message.contains(part), "{}", failure.message);
            }
            (other, _) => panic!("{flag} {text}: {other:?}"),
        }
    }
}

#[test]
fn profiles_are_read_in_every_form_of_toml() {
    for text in [
        "default_profile = 'b'\n[profile.a]\nproject = 'x'\n[profile.b]\ntimeout_s = 5\nread_only = true\n",
        "\u{feff}default_profile = 'b'\r\n[profile]\r\na = {project = 'x'}\r\nb.timeout_s = 5\r\nb.read_only = true\r\n",
    ] {
        let configuration = read(text).expect("a configuration");

        let names: Vec<_> = configuration.profiles.keys().map(String::as_str).collect();
        assert_eq!((configuration.default_profile.as_deref(), names), (Some("b"), vec!["a", "b"]));
        assert_eq!(configuration.profiles["a"].text("project"), Some("x"));
        let values: Vec<_> =
            configuration.profiles["b"].values().map(|(setting, text)| (setting.flag, text)).collect();
        assert_eq!(values, [("timeout-s", "5"), ("read-only", "true")]);
    }

    assert!(read("").expect("a configuration").profiles.is_empty());
}

#[test]
fn a_problem_names_the_line_and_no_value() {
    for (text, line, part) in [
        ("[profile.a]\n\napi_key = 'svc_secret'\n", "line 3", "tas-mcp login"),
        ("[profile.a]\nproject = 'x'\ntoolset = 'svc_secret'\n", "line 3", "`toolsets` is"),
        ("[profile.a]\r\n# one\r\nprofile = 'svc_secret'\r\n", "line 3", "not a setting"),
        ("[profile.a]\ntimeout_s = 'svc_secret'\n", "line 2", "`timeout_s` must be a whole number"),
        ("profiles = 'svc_secret'\n", "line 1", "`profiles` is not known"),
        ("\nprofile = 'svc_secret'\n", "line 2", "`profile` must be a table"),
        ("profile = {a = 'svc_secret'}\n", "line 1", "`a` must be a table"),
        ("default_profile = 1\n", "line 1", "`default_profile` must be a text"),
        ("[profile.'a b']\n", "line 1", "`a b` is not the name"),
        ("[profile.a]\nproject = 'a'\nproject = 'b'\n", "line 3", "duplicate"),
        ("[profile.a\n", "line 1", "not valid"),
    ] {
        let problem = read(text).expect_err("a problem");

        assert!(problem.contains(line) && problem.contains(part), "{problem}");
        assert!(!problem.contains("svc_secret") && !problem.contains('\n'), "{problem}");
    }
}

#[test]
fn the_name_of_a_profile_is_a_plain_word() {
    for (name, is_usable) in [
        ("prod", true),
        ("eu-1.prod_b", true),
        ("1", true),
        ("", false),
        ("-x", false),
        (".x", false),
        ("a b", false),
        ("a/b", false),
        ("ä", false),
    ] {
        assert_eq!(ConfigurationFile::check_name(name).is_ok(), is_usable, "{name}");
    }

    let is_usable = |length| ConfigurationFile::check_name(&"a".repeat(length)).is_ok();
    assert!(is_usable(64) && !is_usable(65));
}

#[test]
fn a_profile_contains_settings_by_their_flags_with_values_of_their_types() {
    for (line, expected) in [
        ("base_url = 'https://tas.example/api/v1'", Ok("https://tas.example/api/v1")),
        ("project = 'demo'", Ok("demo")),
        ("project = ['demo']", Err("`project` must be a text")),
        ("timeout_s = 20", Ok("20")),
        ("timeout_s = '20'", Err("`timeout_s` must be a whole number")),
        ("timeout_s = 2.5", Err("`timeout_s` must be a whole number")),
        ("max_reply_chars = '2000'", Err("`max_reply_chars` must be a whole number")),
        ("read_only = true", Ok("true")),
        ("read_only = 'yes'", Err("`read_only` must be true or false")),
        ("ca_file = '/etc/ca.pem'", Ok("/etc/ca.pem")),
        ("ca_file = '~/ca.pem'", Ok("~/ca.pem")),
        ("ca_file = 'ca.pem'", Err("`ca_file` must be an absolute path")),
        ("timeout = 20", Err("`timeout_s` is")),
        ("base-url = 'x'", Err("`base_url` is")),
        ("api_key = 'x'", Err("tas-mcp login")),
        ("API-KEY = 'x'", Err("tas-mcp login")),
        ("sandbox = true", Err("base_url, knowledge_url")),
        ("'' = 1", Err("base_url, knowledge_url")),
    ] {
        match (read(&format!("[profile.a]\n{line}\n")), expected) {
            (Ok(configuration), Ok(expected)) => {
                let (_, text) = configuration.profiles["a"].values().next().expect("a value");
                assert_eq!(text, expected, "{line}");
            }
            (Err(problem), Err(part)) => assert!(problem.contains(part), "{line}: {problem}"),
            (other, _) => panic!("{line}: {other:?}"),
        }
    }
}
