//! File name patterns: one dialect for downloads and for the command line.
//!
//! `*` and `?` match within one segment, `[...]` matches one of several characters, `[!...]` any other one, `{a,b}` matches one
//! of several texts, and the segment `**` matches any number of directories. A `\` removes the meaning of the next character.

mod translation;

use regex_lite::Regex;

/// A compiled pattern for names with directories.
#[derive(Clone, Debug)]
pub(crate) struct FilePattern {
    regex: Regex,
    /// Whether the pattern has no directories and is matched with the last segment of a name only.
    matches_last_segment: bool,
}

impl FilePattern {
    /// Compiles `pattern`.
    ///
    /// # Errors
    /// The reason why the pattern is not valid.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let regex = compile(pattern.trim_start_matches('/'))?;
        Ok(Self { regex, matches_last_segment: !pattern.contains('/') })
    }

    /// Returns whether `name`, with `/` between its segments, matches the pattern.
    pub(crate) fn is_match(&self, name: &str) -> bool {
        let last_segment = name.rsplit('/').next().unwrap_or(name);
        self.regex.is_match(if self.matches_last_segment { last_segment } else { name })
    }
}

/// Returns whether `name` contains a character with a special meaning in patterns.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// Compiles `pattern` in the dialect of this module. The time of a match is bounded by the lengths of the pattern and the name.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.contains("***") {
        return Err("`***` has no meaning; `**` matches any number of directories".to_owned());
    }
    Regex::new(&translation::expression(pattern)?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_inputs::{check_texts, text};

    /// Checks whether each name matches its pattern.
    fn check(cases: &[(&str, &str, bool)]) {
        for (pattern, name, expected) in cases {
            let compiled = FilePattern::new(pattern).expect("a valid pattern");
            assert_eq!(compiled.is_match(name), *expected, "{pattern} {name}");
        }
    }

    #[test]
    fn stars_stay_within_a_segment_unless_doubled() {
        check(&[
            ("*.png", "end.png", true),
            ("*.png", "screenshots/end.png", true),
            ("/*.png", "screenshots/end.png", false),
            ("/*.png", "end.png", true),
            ("logs/*", "logs/agent.log", true),
            ("logs/*", "logs/old/agent.log", false),
            ("logs/**", "logs/old/agent.log", true),
            ("**/agent.log", "agent.log", true),
            ("**/agent.log", "logs/old/agent.log", true),
            ("logs/**/agent.log", "logs/agent.log", true),
            ("**/**/a.log", "a.log", true),
            ("a**/b", "ax/b", true),
            ("a**/b", "a/x/b", false),
            ("a,**", "a,b/c", false),
            ("*", "a\nb", true),
            ("*", ".hidden", true),
            ("**", "a\nb", true),
        ]);
    }

    #[test]
    fn a_question_mark_matches_one_character_of_a_segment() {
        check(&[
            ("a?c", "abc", true),
            ("a?c/d", "a/c/d", false),
            ("é?.log", "éü.log", true),
            ("é?.log", "äü.log", false),
            ("?.log", "üü.log", false),
        ]);
    }

    #[test]
    fn a_class_matches_one_of_its_characters_or_any_other_one() {
        check(&[
            ("[ab].log", "b.log", true),
            ("[!ab].log", "b.log", false),
            ("[^ab].log", "c.log", true),
            ("a[!b]c/d", "a/c/d", false),
            ("[]-].log", "].log", true),
            ("[b-d-].log", "c.log", true),
            ("[b-d-].log", "-.log", true),
            ("[a&&b]", "&", true),
            ("[é-ü].log", "ö.log", true),
        ]);
    }

    #[test]
    fn braces_match_one_of_several_patterns() {
        check(&[
            ("{a,b}.log", "c.log", false),
            ("{a,b}.log", "{a,b}.log", false),
            ("{a{1,2},,b*}.log", "a2.log", true),
            ("{a{1,2},,b*}.log", ".log", true),
            ("{logs/**,*.png}", "logs/old/agent.log", true),
            ("{**/a,b}/c", "x/y/a/c", true),
            ("x{a,**}", "x/a", false),
        ]);
    }

    #[test]
    fn other_characters_match_themselves() {
        check(&[
            ("a,b", "a,b", true),
            ("\\*.log", "*.log", true),
            ("\\*.log", "a.log", false),
            ("a.b+(c)|$", "a.b+(c)|$", true),
            ("a.b", "axb", false),
            ("a", "a\n", false),
            ("A.log", "a.log", false),
        ]);
    }

    #[test]
    fn invalid_patterns_are_errors() {
        for (pattern, expected) in [
            ("***", "`***` has no meaning; `**` matches any number of directories"),
            ("[a", "a `[` has no `]`"),
            ("[]", "a `[` has no `]`"),
            ("[b-a]", "the range `b-a` has no characters"),
            ("{a", "a `{` has no `}`"),
            ("a}", "a `}` has no `{`"),
            ("a\\", "a `\\` has no character after it"),
        ] {
            assert_eq!(FilePattern::new(pattern).expect_err(pattern), expected);
        }
    }

    #[test]
    fn any_pattern_is_compiled_or_refused() {
        check_texts(&("[a-b*?\\[\\]{},!^&/é\\\\-]{0,40}", text()), |(pattern, name)| {
            for pattern in [&pattern, &name] {
                if let Ok(expression) = translation::expression(pattern) {
                    assert!(Regex::new(&expression).is_ok(), "{expression}");
                }
                if let Ok(compiled) = FilePattern::new(pattern) {
                    compiled.is_match(&name);
                    compiled.is_match(&"ab/".repeat(200));
                }
            }
        });
    }

    #[test]
    fn a_name_without_special_characters_matches_itself() {
        check_texts(&text(), |name| {
            if !is_pattern(&name) && !name.contains(['/', '\\', '}', ']']) && !name.contains(char::is_control)
            {
                let compiled = FilePattern::new(&name).expect("a valid pattern");
                assert!(compiled.is_match(&name), "{name:?}");
            }
        });
    }
}
