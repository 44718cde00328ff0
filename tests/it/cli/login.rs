//! `tas-mcp login` and `tas-mcp logout`, with a home directory of the test and without a keychain.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
};

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{
    home::{Home, Outcome},
    terminal::run_in_terminal,
};
use crate::support::{binary::binary, service::Service};

const KEYS: &str = ".config/tas-mcp/keys.json";
const CONFIGURATION: &str = ".config/tas-mcp/config.toml";

/// A person with a home directory, and a service with keys.
struct Person {
    home: Home,
    service: Service,
}

impl Person {
    async fn new() -> Self {
        Self { home: Home::new(), service: Service::start().await }
    }

    /// Runs a command and passes `input` to it. No output contains a key.
    async fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)], input: &[&str]) -> Outcome {
        let end = self.home.run_with(arguments, variables, input).await;
        for key in [keys::DEMO, keys::ARENA, "svc_planted"] {
            assert!(!end.output.contains(key) && !end.errors.contains(key), "{}{}", end.output, end.errors);
        }

        end
    }

    async fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(arguments, &[], &[]).await
    }

    async fn login(&self, key: &str, flags: &[&str]) -> Outcome {
        let base_url = self.service.base_url();
        let arguments = [&["login", "--with-key", "--json", "--base-url", &base_url], flags].concat();
        self.run_with(&arguments, &[], &[key]).await
    }

    /// Returns whether a key or a profile is stored.
    fn has_account(&self) -> bool {
        self.home.at(KEYS).exists() || self.home.at(CONFIGURATION).exists()
    }
}

#[tokio::test]
async fn a_stored_key_serves_later_commands_until_logout() {
    let person = Person::new().await;
    assert_eq!(person.run(&["runs"]).await.code, Some(2));

    let end = person.login(keys::DEMO, &["--store", "file"]).await;
    let printed = end.printed;
    assert_eq!((end.code, end.errors.as_str()), (Some(0), ""));
    let facts = ["account", "is_default", "key", "stored_in", "project"].map(|name| printed[name].clone());
    assert_eq!(json!(facts), json!(["default", true, "key of a project", "file", "demo"]));

    let mode = fs::metadata(person.home.at(KEYS)).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let configuration = person.home.text(CONFIGURATION);
    assert!(!configuration.contains(keys::DEMO), "{configuration}");
    for part in ["default_profile = \"default\"", &person.service.base_url(), "project = \"demo\""] {
        assert!(configuration.contains(part), "{configuration}");
    }

    let end = person.run(&["runs"]).await;
    assert_eq!(end.code, Some(0), "{}", end.errors);
    let status = person.run(&["status", "--json"]).await.printed;
    assert_eq!(status["key_source"], "the account default");
    assert_eq!(status["accounts"][0]["key_in"], "file");

    assert_eq!(person.run(&["logout", "--json"]).await.printed["removed_from"], json!(["file"]));
    assert_eq!(person.run(&["logout"]).await.code, Some(1));
    let end = person.run(&["runs"]).await;
    assert!(end.code == Some(2) && end.errors.contains("tas-mcp login"), "{}", end.errors);
    assert_eq!(person.home.text(CONFIGURATION), configuration);
}

#[tokio::test]
async fn a_key_is_not_sent_to_another_address() {
    let person = Person::new().await;
    person.login(keys::DEMO, &["--store", "file"]).await;
    let (other, first) = (Service::start().await, person.service.base_url());
    assert_eq!(person.run(&["runs"]).await.code, Some(0));

    let beside = ["/other/api/v1", "/api/v1.evil/api/v1"].map(|path| first.replace("/api/v1", path));
    for address in [&[other.base_url()], &beside[..]].concat() {
        for (command, code) in [(&["runs"][..], 2), (&["status"], 1), (&["call", "list_tests"], 2)] {
            let arguments = [command, &["--base-url", &address]].concat();
            let end = person.run_with(&arguments, &[], &[]).await;
            let text = [end.output, end.errors].concat();
            let message = format!("is stored for {first}, and is not sent to {address}");
            assert!(end.code == Some(code) && text.contains(&message), "{command:?}: {text}");
        }
    }

    let knowledge = other.knowledge_url();
    let end = person.run(&["runs", "--knowledge-url", &knowledge]).await;
    assert!(end.errors.contains(&format!("is not sent to {knowledge}")), "{}", end.errors);
    assert_eq!(other.requests().await, [""; 0]);
}

#[tokio::test]
async fn a_key_is_not_sent_to_a_changed_address_of_its_profile() {
    let person = Person::new().await;
    person.login(keys::DEMO, &["--store", "file"]).await;
    let other = Service::start().await;
    let changed = person.home.text(CONFIGURATION).replace(&person.service.base_url(), &other.base_url());
    fs::write(person.home.at(CONFIGURATION), changed).expect("written");

    let end = person.run(&["runs"]).await;
    assert!(end.code == Some(2) && end.errors.contains("is not sent to"), "{}", end.errors);
    assert_eq!(other.requests().await, [""; 0]);

    assert_eq!(person.login(keys::DEMO, &["--store", "file"]).await.code, Some(0));
    assert_eq!(person.run(&["runs"]).await.code, Some(0));
}

#[tokio::test]
async fn a_key_of_another_project_brings_its_project() {
    let person = Person::new().await;
    person.login(keys::DEMO, &["--store", "file"]).await;

    let refused = person.login(keys::ARENA, &["--store", "file", "--project", "demo"]).await;
    assert!(refused.code == Some(1) && refused.errors.contains("does not match"), "{}", refused.errors);
    assert!(person.home.text(KEYS).contains(keys::DEMO));

    let end = person.login(keys::ARENA, &["--store", "file"]).await;
    assert_eq!((end.code, &end.printed["project"]), (Some(0), &json!("arena")));
    assert_eq!(person.run(&["runs"]).await.code, Some(0));
}

#[tokio::test]
async fn the_stored_keys_stay_if_the_profile_cannot_be_written() {
    let person = Person::new().await;
    person.login(keys::DEMO, &["--store", "file"]).await;
    let (stored, configuration) = (person.home.text(KEYS), person.home.at(CONFIGURATION));
    fs::set_permissions(&configuration, Permissions::from_mode(0o444)).expect("changed");

    for flags in [&["--store", "file"][..], &["--store", "file", "--profile", "second"]] {
        let end = person.login(keys::ARENA, flags).await;
        assert!(end.code == Some(2) && end.errors.contains("read-only"), "{:?} {}", end.code, end.errors);
        assert_eq!(person.home.text(KEYS), stored);
    }

    assert_eq!(person.run(&["runs"]).await.code, Some(0));
}

#[tokio::test]
async fn nothing_is_stored_unless_the_service_accepts_the_key() {
    let person = Person::new().await;
    for (flags, key, code, message) in [
        (&[][..], "svc_planted_wrong_key", 1, "401"),
        (&[], "svc_planted wrong", 2, "characters that no key has"),
        (&[], "", 2, "is empty"),
        (&["--base-url", "https://service.example/v2"], keys::DEMO, 2, "/api/v1"),
        (&["--base-url", "http://127.0.0.1:1/api/v1"], keys::DEMO, 3, "key: no connection to 127.0.0.1:1: "),
        (&["--profile", "a b"], keys::DEMO, 2, "not the name of a profile"),
    ] {
        let base_url = person.service.base_url();
        let address: &[_] = if flags.contains(&"--base-url") { &[] } else { &["--base-url", &base_url] };
        let arguments = [&["login", "--with-key", "--store", "file"], address, flags].concat();
        let end = person.run_with(&arguments, &[], &[key]).await;

        assert!(end.code == Some(code) && end.errors.contains(message), "{flags:?}: {}", end.errors);
        assert!(!person.has_account(), "{flags:?}");
    }
}

#[tokio::test]
async fn a_keychain_is_used_only_where_there_is_one() {
    let person = Person::new().await;
    let end = person.login(keys::DEMO, &["--store", "keychain"]).await;
    let is_explained = end.errors.contains("there is no keychain") && end.errors.contains("--store file");

    assert!(end.code == Some(2) && is_explained && !person.has_account(), "{}", end.errors);
}

#[tokio::test]
async fn a_person_types_the_address_and_the_key() {
    let person = Person::new().await;
    let (address, key) = (format!("{}\n", person.service.base_url()), format!("{}\n", keys::DEMO));
    let typed = [("Address", address.as_str()), ("Host of screenshots", "\n"), ("API key for", &key)];
    // With a keychain, a person would have to agree to the file.
    let flags = if cfg!(feature = "keychain") { &["login", "--store", "file"][..] } else { &["login"] };
    let (end, screen) = run_in_terminal(200, flags, &person.home.variables(&[]), &typed).await;

    assert_eq!((end, person.home.at(KEYS).exists()), (Some(0), true), "{screen}");
    assert!(!screen.contains(keys::DEMO), "{screen}");
    assert!(screen.contains("✓ may        list runs (project:read-runs)"), "{screen}");
}

#[tokio::test]
async fn the_knowledge_host_is_asked_for_with_a_proposal_and_its_absence_has_consequences() {
    let person = Person::new().await;
    let base_url = person.service.base_url();
    let (short, key) = (base_url.trim_start_matches("http://").to_owned(), format!("{}\n", keys::DEMO));
    let short = short.trim_end_matches("/api/v1");
    let proposed = format!("http://{short}");

    for (answer, stored) in [("-\n", false), ("\n", true)] {
        let typed = [
            ("Address", format!("{short}\n")),
            (proposed.as_str(), answer.to_owned()),
            ("API key for", key.clone()),
        ];
        let typed: Vec<_> = typed.iter().map(|(expected, text)| (*expected, text.as_str())).collect();
        let (end, screen) =
            run_in_terminal(200, &["login", "--store", "file"], &person.home.variables(&[]), &typed).await;
        assert_eq!(end, Some(0), "{screen}");
        assert!(screen.contains(&format!("note: the address is {base_url}")), "{screen}");
        assert_eq!(screen.contains("tas-mcp login --knowledge-url URL"), !stored, "{screen}");

        let configuration = fs::read_to_string(person.home.at(CONFIGURATION)).expect("a file");
        assert_eq!(
            configuration.contains(&format!("knowledge_url = \"{proposed}\"")),
            stored,
            "{configuration}"
        );
        fs::remove_file(person.home.at(CONFIGURATION)).expect("removed");
    }
}

#[tokio::test]
async fn a_file_that_others_can_read_is_refused() {
    let person = Person::new().await;
    person.login(keys::DEMO, &["--store", "file"]).await;
    let requests = person.service.requests().await.len();
    fs::set_permissions(person.home.at(KEYS), Permissions::from_mode(0o644)).expect("changed");

    for command in [&["runs"][..], &["call", "list_tests"], &["logout"]] {
        let end = person.run(command).await;
        assert!(end.code == Some(2) && end.errors.contains("chmod 600"), "{command:?}: {}", end.errors);
    }
    assert_eq!(person.service.requests().await.len(), requests);
}

#[tokio::test]
async fn accounts_are_listed_and_kept_apart() {
    let person = Person::new().await;
    person.login(keys::DEMO, &["--store", "file"]).await;
    let second = person.login(keys::ARENA, &["--store", "file", "--profile", "second"]).await.printed;
    assert_eq!((&second["is_default"], &second["project"]), (&json!(false), &json!("arena")));

    let accounts = person.run(&["status", "--json"]).await.printed["accounts"].clone();
    let names = accounts.as_array().into_iter().flatten().map(|account| {
        (account["name"].as_str().unwrap_or_default(), account["is_active"] == true, &account["key_in"])
    });
    let file = json!("file");
    assert_eq!(names.collect::<Vec<_>>(), [("default", true, &file), ("second", false, &file)]);

    // The key of a variable is not sent to the address of a profile that a flag chooses.
    let variables = [("TAS_API_KEY", keys::DEMO)];
    let end = person.run_with(&["runs", "--profile", "second", "--json"], &variables, &[]).await;
    assert!(end.code == Some(0) && end.output.contains("\"arena\""), "{}", end.errors);

    assert_eq!(person.run_with(&["logout"], &[("TAS_PROFILE", "second")], &[]).await.code, Some(0));
    assert_eq!(person.run(&["runs"]).await.code, Some(0));
    let end = person.run_with(&["runs", "--profile", "second"], &variables, &[]).await;
    let reason = "no key is stored for the account `second`";
    assert!(end.errors.contains(reason) && end.errors.contains("is not sent to"), "{}", end.errors);
}

#[tokio::test]
async fn the_key_of_a_removed_profile_is_removed() {
    let person = Person::new().await;
    person.login(keys::DEMO, &["--store", "file", "--profile", "a"]).await;
    assert!(person.home.text(KEYS).contains(keys::DEMO));

    let removed = person.run(&["logout", "--profile", "a", "--json"]).await;

    let expected = json!({"account": "a", "removed_from": ["file"], "removed_profile": true});
    assert_eq!((removed.code, removed.printed), (Some(0), expected));
    assert!(!person.home.text(KEYS).contains(keys::DEMO));
    assert!(!person.home.text(CONFIGURATION).contains("profile.a"), "{}", person.home.text(CONFIGURATION));
}

#[tokio::test]
async fn a_key_of_a_variable_comes_before_the_stored_key() {
    let person = Person::new().await;
    let base_url = person.service.base_url();
    let login = ["login", "--with-key", "--json", "--store", "file", "--base-url", &base_url];
    let variables = [("TAS_API_KEY", keys::ARENA)];

    let end = person.run_with(&login, &variables, &[keys::DEMO]).await;
    assert_eq!((end.code, &end.printed["project"]), (Some(0), &json!("demo")));
    assert!(end.errors.contains("variable TAS_API_KEY"), "{}", end.errors);

    let status = person.run_with(&["status", "--json"], &variables, &[]).await.printed;
    assert_eq!(status["key_source"], "variable TAS_API_KEY");
}

#[tokio::test]
async fn a_running_server_finds_a_key_that_is_stored_later() {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    let person = Person::new().await;
    let base_url = person.service.base_url();
    let mut server =
        binary(&["--base-url", &base_url], &person.home.variables(&[])).spawn().expect("the binary starts");
    let mut input = server.stdin.take().expect("an input");
    let mut output = BufReader::new(server.stdout.take().expect("an output")).lines();
    let initialize = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let list_tests = || json!({"name": "list_tests", "arguments": {}});
    let mut send = async |method: &str, parameters: Value| {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        input.write_all(format!("{request}\n").as_bytes()).await.expect("the server reads");
        output.next_line().await.expect("an answer").expect("an answer")
    };

    send("initialize", initialize).await;
    let answer = send("tools/call", list_tests()).await;
    assert!(answer.contains("not_configured") && answer.contains("tas-mcp login"), "{answer}");

    assert_eq!(person.login(keys::DEMO, &["--store", "file"]).await.code, Some(0));
    let answer = send("tools/call", list_tests()).await;
    assert!(answer.contains("structuredContent") && !answer.contains(keys::DEMO), "{answer}");
}
