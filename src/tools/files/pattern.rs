//! File name patterns: one dialect for downloads and for the command line.
//!
//! `*` and `?` match within one segment, `[...]` matches one of several characters, `{a,b}` matches one of several
//! texts, and the segment `**` matches any number of directories.

use std::collections::BTreeSet;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// A compiled pattern for names with directories.
#[derive(Clone, Debug)]
pub(crate) struct FilePattern {
    matcher: GlobMatcher,
    characters: PatternCharacters,
    /// Whether the pattern has no directories and is matched with the last segment of a name only.
    matches_last_segment: bool,
}

impl FilePattern {
    /// Compiles `pattern`.
    ///
    /// # Errors
    /// The reason why the pattern is not valid.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let characters = PatternCharacters::new(pattern);
        let matcher = compile(&characters.encode(pattern.trim_start_matches('/')))?.compile_matcher();
        Ok(Self { matcher, characters, matches_last_segment: !pattern.contains('/') })
    }

    /// Returns whether `name`, with `/` between its segments, matches the pattern.
    pub(crate) fn is_match(&self, name: &str) -> bool {
        let last_segment = name.rsplit('/').next().unwrap_or(name);
        let text = if self.matches_last_segment { last_segment } else { name };
        self.matcher.is_match(self.characters.encode(text))
    }
}

/// The characters of a pattern that are not ASCII.
///
/// `globset` matches bytes. Each of these characters is encoded as one byte of its own, and every other character that
/// is not ASCII as [`OTHER`], so that `?` matches one character.
#[derive(Clone, Debug)]
pub(super) struct PatternCharacters(Vec<char>);

/// Stands for a character that is not ASCII and not in the pattern. Names of files contain no control characters.
const OTHER: char = '\u{7f}';

impl PatternCharacters {
    pub(super) fn new(pattern: &str) -> Self {
        let distinct: BTreeSet<_> = pattern.chars().filter(|one| !one.is_ascii()).collect();
        Self(distinct.into_iter().collect())
    }

    /// Returns `text` with one byte for each character.
    pub(super) fn encode(&self, text: &str) -> String {
        let encode_one = |one: char| {
            let position = self.0.iter().position(|known| *known == one);
            let control = position.and_then(|index| u8::try_from(index + 1).ok()).filter(|byte| *byte < 0x20);
            if one.is_ascii() { one } else { control.map_or(OTHER, char::from) }
        };
        text.chars().map(encode_one).collect()
    }
}

/// Returns whether `name` contains a character with a special meaning in patterns.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// Compiles `pattern` in the dialect of this module.
pub(super) fn compile(pattern: &str) -> Result<Glob, String> {
    if pattern.contains("***") {
        return Err("`***` has no meaning; `**` matches any number of directories".to_owned());
    }
    GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_inputs::{check_texts, text};

    #[test]
    fn stars_stay_within_a_segment_unless_doubled() {
        let cases = [
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
            ("a?c", "abc", true),
            ("a?c/d", "a/c/d", false),
            ("[ab].log", "b.log", true),
            ("{a,b}.log", "c.log", false),
            ("é?.log", "éü.log", true),
            ("é?.log", "äü.log", false),
            ("?.log", "üü.log", false),
            ("*", ".hidden", true),
            ("A.log", "a.log", false),
        ];

        for (pattern, name, expected) in cases {
            let compiled = FilePattern::new(pattern).expect("a valid pattern");
            assert_eq!(compiled.is_match(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn invalid_patterns_are_errors() {
        for pattern in ["***", "[a", "{a"] {
            assert!(FilePattern::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn any_pattern_is_compiled_or_refused() {
        check_texts(&("[a-b*?\\[\\]{},!/é\\\\-]{0,40}", text()), |(pattern, name)| {
            for pattern in [&pattern, &name] {
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
