//! The incomplete command line that the script of a shell passes, and the candidates as the shell expects them.
//!
//! The library reads words as if shells had removed the quotation marks. They have not: zsh 5.9 and fish pass `"Pause a` with
//! its mark, so that no name begins so, and bash inserts a candidate as it is. `tests/completions` completes such words in
//! real shells.

use std::ffi::OsString;

use clap_complete::{Shell, engine::CompletionCandidate};

/// Variable in which the scripts of the library pass the position of the word at the cursor.
const POSITION: &str = "_CLAP_COMPLETE_INDEX";

/// An incomplete command line.
#[derive(Debug)]
pub(super) struct ShellLine {
    shell: Shell,
    /// The words without quotes, from the name of the program to the word at the cursor.
    pub(super) words: Vec<String>,
    /// Number of bytes of the last word that bash does not replace.
    kept: usize,
    /// Quote that is open at the cursor.
    quote: Option<Quote>,
}

impl ShellLine {
    /// Reads the arguments that the script of `shell` passes.
    pub(super) fn from_arguments(shell: Shell, arguments: Vec<OsString>) -> Self {
        let mut words: Vec<_> =
            arguments.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();

        match (shell, words.last_mut()) {
            (Shell::Bash, _) => return Self::of_bash(&words),
            (Shell::Zsh, _) => {
                if let Some(position) = position().filter(|position| *position <= words.len()) {
                    words.resize(position + 1, String::new());
                }
                words = words.iter().map(|word| without_quotes(word)).collect();
            }
            // The shell removes the quotes of the other words.
            (Shell::Fish, Some(last)) => *last = without_quotes(last),
            (Shell::PowerShell, Some(last)) => {
                *last = last.trim_start_matches('=').trim_start_matches(['"', '\'']).to_owned();
            }
            _ => {}
        }

        Self { shell, words, kept: 0, quote: None }
    }

    /// Reads the characters that separate words, and the line.
    fn of_bash(arguments: &[String]) -> Self {
        let [breaks, line] = arguments else {
            return Self { shell: Shell::Bash, words: Vec::new(), kept: 0, quote: None };
        };
        let ShellWords { mut words, current, kept, quote } = ShellWords::parse(line, breaks);
        words.push(current);

        Self { shell: Shell::Bash, words, kept, quote }
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
            Shell::Zsh if help.is_empty() => escape(value),
            Shell::Zsh => format!("{}:{}", escape(value), escape(help)),
            Shell::Fish | Shell::PowerShell if !help.is_empty() => format!("{value}\t{help}"),
            _ => value.to_owned(),
        }
    }
}

/// Returns the position of the word at the cursor.
fn position() -> Option<usize> {
    #[expect(clippy::disallowed_methods, reason = "the script of the shell sets this variable, and no user")]
    let position = std::env::var(POSITION);
    position.ok()?.parse().ok()
}

/// Returns a word, which may be incomplete, without its quotes.
fn without_quotes(word: &str) -> String {
    ShellWords::parse(word, "").current
}

/// A quotation mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    Single,
    Double,
}

/// The words of an incomplete command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct ShellWords {
    /// The complete words, without quotes.
    words: Vec<String>,
    /// The word at the end, without quotes.
    current: String,
    /// Number of bytes of the current word before the part that bash replaces.
    kept: usize,
    /// Quote that is open at the end.
    quote: Option<Quote>,
}

impl Quote {
    fn from_character(character: char) -> Option<Self> {
        match character {
            '\'' => Some(Self::Single),
            '"' => Some(Self::Double),
            _ => None,
        }
    }

    /// Returns `text` as it is written inside `quote`.
    fn apply(quote: Option<Self>, text: &str) -> String {
        if quote == Some(Self::Single) {
            // Nothing is escaped inside single quotes: the quote is closed for each one in the text.
            return text.replace('\'', r"'\''");
        }
        let needs_escape = |character: char| match quote {
            Some(Self::Double) => matches!(character, '"' | '\\' | '$' | '`'),
            _ => !character.is_alphanumeric() && !"_-./:=,+@%^".contains(character),
        };

        let mut written = String::with_capacity(text.len());
        for character in text.chars() {
            if needs_escape(character) {
                written.push('\\');
            }
            written.push(character);
        }
        written
    }
}

impl ShellWords {
    /// Splits a line that ends at the cursor. Bash replaces only the part of a word that follows the last of `breaks`.
    fn parse(line: &str, breaks: &str) -> Self {
        let mut parsed = Self::default();
        let mut is_in_word = false;
        let mut characters = line.chars();

        while let Some(character) = characters.next() {
            let is_quote = Quote::from_character(character);
            match (parsed.quote, character) {
                (None, ' ' | '\t' | '\n') => {
                    if std::mem::take(&mut is_in_word) {
                        parsed.words.push(std::mem::take(&mut parsed.current));
                    }
                    parsed.kept = 0;
                    continue;
                }
                (None, _) if is_quote.is_some() => parsed.set_quote(is_quote),
                (Some(open), _) if is_quote == Some(open) => parsed.set_quote(None),
                (Some(Quote::Single), _) => parsed.current.push(character),
                (_, '\\') => parsed.current.extend(characters.next()),
                (None, _) => {
                    parsed.current.push(character);
                    if breaks.contains(character) {
                        parsed.kept = parsed.current.len();
                    }
                }
                (Some(Quote::Double), _) => parsed.current.push(character),
            }
            is_in_word = true;
        }

        parsed
    }

    /// Opens or closes a quote. Bash replaces only what follows the quotation mark.
    fn set_quote(&mut self, quote: Option<Quote>) {
        self.quote = quote;
        self.kept = self.current.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(shell: Shell, arguments: &[&str], value: &str) -> (Vec<String>, String) {
        let line = ShellLine::from_arguments(shell, arguments.iter().map(OsString::from).collect());
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
            (Shell::Zsh, &["x", "'run'", "a"], "a", "a b\\:c:Its help\n"),
            (Shell::Zsh, &["x", "run", "\"a b"], "a b", "a b\\:c:Its help\n"),
            (Shell::Fish, &["x", "run", "'a b"], "a b", "a b:c\tIts help\n"),
            (Shell::PowerShell, &["x", "run", "='a b"], "a b", "a b:c\tIts help\n"),
            (Shell::Elvish, &["x", "run", "a b"], "a b", "a b:c\n"),
        ] {
            let (words, text) = rendered(shell, arguments, "a b:c");

            let words: Vec<_> = words.iter().map(String::as_str).collect();
            assert_eq!((words, text.as_str()), (vec!["x", "run", word], expected), "{shell:?}");
        }
    }

    #[test]
    fn a_value_of_several_lines_is_left_out() {
        assert_eq!(rendered(Shell::Zsh, &["x", ""], "a\nb").1, "");
    }

    #[test]
    fn a_line_is_split_as_bash_splits_it() {
        let cases = [
            ("", &[][..], "", 0, None),
            ("a b", &["a"], "b", 0, None),
            ("a  b ", &["a", "b"], "", 0, None),
            (r"a b\ c", &["a"], "b c", 0, None),
            (r#"a "b c"#, &["a"], "b c", 0, Some(Quote::Double)),
            (r#"a "b \"c" d"#, &["a", "b \"c"], "d", 0, None),
            ("a 'b \\", &["a"], "b \\", 0, Some(Quote::Single)),
            ("a --flag=b", &["a"], "--flag=b", 7, None),
            ("a --flag=\"b c", &["a"], "--flag=b c", 7, Some(Quote::Double)),
            (r"a Co-op:\ li", &["a"], "Co-op: li", 6, None),
            ("a '' b", &["a", ""], "b", 0, None),
            ("a b\\", &["a"], "b", 0, None),
        ];

        for (line, words, current, kept, quote) in cases {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            let expected = ShellWords { words, current: current.to_owned(), kept, quote };
            assert_eq!(ShellWords::parse(line, "\"'=:"), expected, "{line}");
        }
    }

    #[test]
    fn a_value_is_escaped_as_its_quote_requires() {
        for (quote, expected) in [
            (None, r#"a\ \"\$b\'\ 1.4/x:\(2\)"#),
            (Some(Quote::Double), r#"a \"\$b' 1.4/x:(2)"#),
            (Some(Quote::Single), r#"a "$b'\'' 1.4/x:(2)"#),
        ] {
            assert_eq!(Quote::apply(quote, r#"a "$b' 1.4/x:(2)"#), expected, "{quote:?}");
        }
    }
}
