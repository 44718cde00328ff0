//! The words of an incomplete command line, split by the quoting rules of bash.

/// A quotation mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quote {
    Single,
    Double,
}

/// The words of an incomplete command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellWords {
    /// The complete words, without quotes.
    pub(super) words: Vec<String>,
    /// The word at the end, without quotes.
    pub(super) current: String,
    /// Number of bytes of the current word before the part that bash replaces.
    pub(super) kept: usize,
    /// Quote that is open at the end.
    pub(super) quote: Option<Quote>,
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
    pub(super) fn apply(quote: Option<Self>, text: &str) -> String {
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
    pub(super) fn parse(line: &str, breaks: &str) -> Self {
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
