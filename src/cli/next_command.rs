//! The command that a user types next, with the settings of this one.

use crate::settings::{self, Settings};

/// Returns `word` with the quotes that a shell needs.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@%+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the advice to continue with `command`: its words, without the name of the program, such as `wait`, `--job-id` and
/// an id.
pub(super) fn continue_with(settings: &Settings, command: &[&str]) -> String {
    match next_command(settings, command) {
        Some(command) => format!("continue with: {command}"),
        None => "the sandbox of this command ends with the command: to continue later, use `tas-mcp sandbox` in a second terminal".to_owned(),
    }
}

/// Returns the words of `command` as a user can type them after this command: with the program, and with the settings that
/// were given as flags. Every word is quoted, because users and agents run such lines unread. It contains no secret, because
/// a secret has no flag. Returns `None` for an embedded sandbox, whose records the next command does not find.
pub(super) fn next_command(settings: &Settings, command: &[&str]) -> Option<String> {
    let flags = settings.given_flags();
    let words = flags.iter().map(String::as_str).chain(command.iter().copied()).map(quoted);
    let words: Vec<_> = std::iter::once("tas-mcp".to_owned()).chain(words).collect();

    (!settings.wants_sandbox()).then(|| words.join(" "))
}

/// Returns what a user can do with a sandbox: the lines with which another terminal uses it, and the first commands.
pub fn sandbox_guide(base_url: &str, knowledge_url: &str, key: &str) -> String {
    let [address, knowledge_address, secret] = settings::SERVICE_VARIABLES;
    let variables = [(address, base_url), (knowledge_address, knowledge_url), (secret, key)];
    let exports = variables.map(|(name, value)| format!("  export {name}={value}\n")).concat();
    let assignments = variables.map(|(name, value)| format!("  $env:{name} = \"{value}\"\n")).concat();

    format!(
        "\
To use this sandbox in another terminal, paste these lines there
{exports}
In PowerShell
{assignments}
Then try there
  tas-mcp runs --failed
  tas-mcp report \"Pause and resume\"

The key svc_org_sandbox is for all projects. Ctrl-C stops the sandbox."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_as_a_shell_reads_it() {
        for (word, expected) in [("a/b:c", "a/b:c"), ("x;y #", "'x;y #'"), ("a'b", r"'a'\''b'"), ("", "''")] {
            assert_eq!(quoted(word), expected);
        }
    }

    fn settings(arguments: &[&str]) -> Settings {
        let command = clap::Command::new("tas-mcp").args(settings::flags());
        let matches = command.get_matches_from([&["tas-mcp"], arguments].concat());
        Settings::from_sources(&matches, |name| (name == "TAS_API_KEY").then_some("svc_secret"))
    }

    #[test]
    fn advice_repeats_the_flags_but_no_secret() {
        for (arguments, expected) in [
            (&[][..], "continue with: tas-mcp wait j"),
            (
                &["--base-url", "https://tas.example/api/v1", "--project", "the arena", "--read-only"],
                "continue with: tas-mcp --base-url https://tas.example/api/v1 --project 'the arena' --read-only wait j",
            ),
            (&["--project", "svc_secret"], "continue with: tas-mcp wait j"),
            (
                &["--sandbox"],
                "the sandbox of this command ends with the command: to continue later, use `tas-mcp sandbox` in a second terminal",
            ),
        ] {
            assert_eq!(continue_with(&settings(arguments), &["wait", "j"]), expected);
        }
    }
}
