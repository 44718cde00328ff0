//! An incomplete command line as a shell passes it, and the candidates as the shell expects them.

use clap_complete::engine::CompletionCandidate;

use super::shell_words::{Quote, ShellWords};
use crate::cli::shell::Shell;

/// An incomplete command line.
#[derive(Debug)]
pub(super) struct CommandLine {
    shell: Shell,
    /// The words without quotes, from the name of the program to the word at the cursor.
    pub(super) words: Vec<String>,
    /// Number of bytes of the last word that bash does not replace.
    kept: usize,
    /// Quote that is open at the cursor.
    quote: Option<Quote>,
}

impl CommandLine {
    /// Reads the arguments that the script of `shell` passes.
    pub(super) fn from_arguments(shell: Shell, mut arguments: Vec<String>) -> Self {
        let last = arguments.pop().unwrap_or_default();
        let program = "tas-mcp".to_owned();

        if shell == Shell::Bash {
            let breaks = arguments.pop().unwrap_or_default();
            let line = ShellWords::parse(&last, &breaks);
            let arguments = line.words.into_iter().skip(1).chain([line.current]);
            let words = std::iter::once(program).chain(arguments).collect();
            return Self { shell, words, kept: line.kept, quote: line.quote };
        }

        let last = match shell {
            // The other shells remove the quotes.
            Shell::Fish => ShellWords::parse(&last, "").current,
            Shell::Powershell => last.trim_start_matches('=').trim_start_matches(['"', '\'']).to_owned(),
            _ => last,
        };
        let words = std::iter::once(program).chain(arguments).chain([last]).collect();
        Self { shell, words, kept: 0, quote: None }
    }

    /// Returns the candidates, one in each line. Values that are not a single line are left out.
    pub(super) fn render(&self, candidates: &[CompletionCandidate]) -> String {
        let lines = candidates.iter().filter_map(|candidate| {
            let value = candidate.get_value().to_str().filter(|value| !value.contains(['\n', '\t']))?;
            let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            Some(self.render_one(value, help.lines().next().unwrap_or_default()) + "\n")
        });

        lines.collect()
    }

    fn render_one(&self, value: &str, help: &str) -> String {
        let escape = |text: &str| text.replace('\\', "\\\\").replace(':', "\\:");

        match self.shell {
            // Each candidate begins with the current word: the completion library drops all others.
            Shell::Bash => Quote::apply(self.quote, value.get(self.kept..).unwrap_or(value)),
            Shell::Elvish => value.to_owned(),

            Shell::Zsh if help.is_empty() => escape(value),
            Shell::Zsh => format!("{}:{}", escape(value), escape(help)),

            Shell::Fish | Shell::Powershell if help.is_empty() => value.to_owned(),
            Shell::Fish | Shell::Powershell => format!("{value}\t{help}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(shell: Shell, arguments: &[&str], value: &str) -> (Vec<String>, String) {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let line = CommandLine::from_arguments(shell, arguments);
        let candidate = CompletionCandidate::new(value).help(Some("Its help\nand more".into()));
        let text = line.render(&[candidate]);
        (line.words, text)
    }

    #[test]
    fn each_shell_receives_candidates_in_its_own_form() {
        let breaks = "\t\n \"'=:";
        for (shell, arguments, word, expected) in [
            (Shell::Bash, &[breaks, "x run te"][..], "te", "a\\ b:c\n"),
            (Shell::Bash, &[breaks, "x run \"a b"], "a b", "a b:c\n"),
            (Shell::Bash, &[breaks, "x run a\\ b:"], "a b:", "c\n"),
            (Shell::Zsh, &["run", "a"], "a", "a b\\:c:Its help\n"),
            (Shell::Fish, &["run", "'a b"], "a b", "a b:c\tIts help\n"),
            (Shell::Powershell, &["run", "='a b"], "a b", "a b:c\tIts help\n"),
            (Shell::Elvish, &["run", "a b"], "a b", "a b:c\n"),
        ] {
            let (words, text) = rendered(shell, arguments, "a b:c");

            let words: Vec<_> = words.iter().map(String::as_str).collect();
            assert_eq!((words, text.as_str()), (vec!["tas-mcp", "run", word], expected), "{shell:?}");
        }
    }

    #[test]
    fn a_value_of_several_lines_is_left_out() {
        assert_eq!(rendered(Shell::Zsh, &["run", ""], "a\nb").1, "");
    }
}
