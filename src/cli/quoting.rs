//! Words as a person can paste them into a shell.

/// Returns `word` with the quotes that a shell needs.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@%+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_is_quoted_as_a_shell_reads_it() {
        for (word, expected) in [("a/b:c", "a/b:c"), ("a b", "'a b'"), ("a'b", r"'a'\''b'"), ("", "''")] {
            assert_eq!(quoted(word), expected);
        }
    }
}
