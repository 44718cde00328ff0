//! The help of every command, and the explanation of the program on a terminal.

use clap::Command;
use tas_mcp::{
    cli,
    sandbox::{Options, keys, seed},
    settings::SETTINGS,
    tools::catalog,
};

use crate::support::{
    binary::{binary, program, run_binary},
    service::Service,
};

/// Words of the examples that stand for records of the sandbox.
const RECORDS: [(&str, &str); 7] = [
    ("TEST_ID", seed::TEST_PASSES),
    ("PLAN_ID", seed::PLAN_SMOKE),
    ("CONFIG_ID", seed::CONFIG_PHONES),
    ("BUILD_ID", seed::BUILD_ANDROID),
    ("RUN_ID", seed::RUN_FAILED),
    ("JOB_ID", seed::JOB_FLAKY),
    ("EXECUTION_ID", seed::EXECUTION_COMPLETED),
];

/// Returns the path of every command that the help shows, with the command.
fn commands() -> Vec<(String, Command)> {
    let mut program = cli::program();
    program.build();

    let mut commands = Vec::new();
    let mut rest = vec![(program.get_name().to_owned(), program.clone())];
    while let Some((path, command)) = rest.pop() {
        let shown = |command: &&Command| command.get_name() != "help" && !command.is_hide_set();
        let below = command.get_subcommands().filter(shown);
        rest.extend(below.map(|one| (format!("{path} {}", one.get_name()), one.clone())));
        commands.push((path, command));
    }

    commands
}

/// Returns the examples in the help of a command.
fn examples(command: &Command) -> Vec<String> {
    let beginning = command.get_before_help().map(ToString::to_string).unwrap_or_default();
    let lines = beginning.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines.take_while(|line| line.starts_with("  ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_command_has_examples_that_are_valid_command_lines() {
    for (path, command) in commands() {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "{path}");

        for example in examples.iter().filter(|example| example.starts_with("tas-mcp ")) {
            let parsed = cli::program().try_get_matches_from(shlex::split(example).expect("words"));

            assert!(parsed.is_ok(), "{path}: {example}: {parsed:?}");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_examples_succeed_with_records_of_the_sandbox() {
    // A run of an hour takes less than a second.
    let service = Service::with(Options { speed: 6000.0, ..Options::default() }).await;
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(directory.path().join("out")).expect("a directory");
    for build in ["game.apk", "out/arena.apk"] {
        std::fs::write(directory.path().join(build), build).expect("a build");
    }
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let state = directory.path().join("state").to_string_lossy().into_owned();
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
        ("TAS_STATE_DIR", state.as_str()),
    ];

    for (path, command) in commands() {
        // The tools have tests of their own. The other commands run until they are stopped, take long, need a running job,
        // or change files in the home directory.
        let is_skipped = [
            "tas-mcp call ",
            "tas-mcp demo",
            "tas-mcp http",
            "tas-mcp sandbox",
            "tas-mcp completions",
            "tas-mcp stop",
            "tas-mcp install",
            "tas-mcp login",
            "tas-mcp logout",
            "tas-mcp profile",
        ]
        .iter()
        .any(|skipped| path.starts_with(skipped));
        if is_skipped {
            continue;
        }

        for example in examples(&command).iter().filter(|example| *example != "tas-mcp demo") {
            let text = RECORDS.iter().fold(example.clone(), |text, (word, id)| text.replace(word, id));
            let words = shlex::split(&text).expect("words");
            let arguments: Vec<_> = words[1..].iter().map(String::as_str).collect();
            let mut program = binary(&arguments, &variables);
            let output = program.current_dir(directory.path()).output().await.expect("an end");

            let errors = String::from_utf8_lossy(&output.stderr);
            // 10: at least one of the tests failed, as they do in the sandbox.
            assert!(matches!(output.status.code(), Some(0 | 10)), "{path}: {example}: {errors}");
        }
    }
}

#[tokio::test]
async fn the_help_of_the_program_has_every_command_in_a_group() {
    let output = run_binary(&["-h"], &[], &[]).await;
    let help = String::from_utf8(output.stdout).expect("UTF-8");

    for (path, _) in commands() {
        let Some(name) = path.strip_prefix("tas-mcp ").filter(|name| !name.contains(' ')) else { continue };
        let rows = help.lines().filter(|line| line.starts_with(&format!("  {name} ")));
        assert_eq!(rows.count(), 1, "{name}: {help}");
    }
}

#[tokio::test]
async fn the_help_of_a_command_has_examples_first_and_names_no_tool_and_no_argument_of_a_tool() {
    let names = catalog::tools().flat_map(|tool| {
        let arguments = tool.input_schema()["properties"].as_object().into_iter().flatten();
        arguments.map(|(name, _)| name.clone()).chain([tool.name.to_owned()]).collect::<Vec<_>>()
    });
    let names: Vec<_> = names.filter(|name| name.contains('_')).collect();

    for (path, _) in commands() {
        // Only here users choose tools by name.
        if ["tas-mcp", "tas-mcp call", "tas-mcp tools"].contains(&path.as_str())
            || path.starts_with("tas-mcp call ")
        {
            continue;
        }
        let arguments: Vec<_> = path.split(' ').skip(1).chain(["--help"]).collect();
        let output = run_binary(&arguments, &[], &[]).await;
        let help = String::from_utf8(output.stdout).expect("UTF-8");

        assert!(help.find("Examples:") < help.find("Options:").or(help.find("Arguments:")), "{path}: {help}");
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        // What follows `tas-mcp call` is a command.
        let text = help.replace("tas-mcp call ", "tas-mcp-call-");
        // The fields of a JSON value are what a user types.
        let text: String =
            text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect();
        let found = text.split(|character| !is_word(character) && character != '-');
        let found: Vec<_> = found.filter(|word| names.iter().any(|name| name == word)).collect();
        assert!(found.is_empty(), "{path}: {found:?}: {help}");
        assert!(!help.contains("--project-id"), "{path}: {help}");
    }
}

#[tokio::test]
async fn the_help_for_settings_shows_each_flag_variable_and_default() {
    for arguments in [&["help", "settings"][..], &["settings", "--help"], &["settings"]] {
        let output = run_binary(arguments, &[], &[]).await;
        let help = String::from_utf8(output.stdout).expect("UTF-8");

        for setting in SETTINGS.iter() {
            let is_row = |line: &str| {
                [setting.flag, setting.variable, setting.default].iter().all(|text| line.contains(text))
            };
            assert!(help.lines().any(is_row), "{arguments:?}: {setting:?}");
        }
        assert!(output.status.success() && help.contains("A flag overrides a variable."), "{help}");
    }
}

#[tokio::test]
async fn a_setting_is_accepted_before_and_after_a_subcommand() {
    for arguments in [
        ["--sandbox", "call", "list_tests"],
        ["call", "--sandbox", "list_tests"],
        ["call", "list_tests", "--sandbox"],
    ] {
        let output = run_binary(&arguments, &[], &[]).await;
        assert!(output.status.success(), "{arguments:?}");
    }
}

/// Runs a command line of the binary with a terminal as standard input. Returns the output.
#[cfg(target_os = "linux")]
async fn on_a_terminal(command_line: &str, directory: &std::path::Path) -> std::process::Output {
    let binary = env!("CARGO_BIN_EXE_tas-mcp");
    let command_line = command_line.replace("tas-mcp", &format!("'{binary}'"));
    let mut script = program("script", &["-qec", &command_line, "/dev/null"], &[]);

    script.current_dir(directory).output().await.expect("script is installed")
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_program_explains_itself_on_a_terminal_and_exits_with_2() {
    for flags in ["", " --sandbox"] {
        let directory = tempfile::tempdir().expect("a directory");
        let output = on_a_terminal(&format!("tas-mcp{flags} 2>errors"), directory.path()).await;
        let errors = std::fs::read_to_string(directory.path().join("errors")).expect("the errors");

        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{errors}");
        for word in ["MCP server", "starts it", "tas-mcp demo", "tas-mcp help", "--sandbox"] {
            assert!(errors.contains(word), "{word}: {errors}");
        }
    }
}
