//! File name patterns, and the search for files that match: one dialect for downloads and for the command line.
//!
//! `*` and `?` match within one segment, `[...]` matches one of several characters, `[!...]` any other one, `{a,b}`
//! matches one of several texts, and the segment `**` matches any number of directories. A `\` removes the meaning of
//! the next character.

use std::{
    collections::BTreeSet,
    fs::{self, DirEntry},
    io,
    path::{Component, Path, PathBuf},
};

use globset::{GlobBuilder, GlobMatcher};

use super::equal_name::{existing_path, names_in};
use crate::text::composed;

/// Longest pattern in bytes. Braces can be nested, and the library compiles them recursively.
const MAX_PATTERN_BYTES: usize = 1_000;

/// A compiled pattern for names with directories.
#[derive(Clone, Debug)]
pub(crate) struct FilePattern {
    matcher: GlobMatcher,
    alphabet: Alphabet,
    /// Whether the pattern has no directories and is matched with the last segment of a name only.
    matches_last_segment: bool,
}

impl FilePattern {
    /// Compiles `pattern`.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let compiled = Self::of_whole_names(pattern.trim_start_matches('/'))?;
        Ok(Self { matches_last_segment: !pattern.contains('/'), ..compiled })
    }

    /// Compiles `pattern` in a way that it is matched with whole names.
    fn of_whole_names(pattern: &str) -> Result<Self, String> {
        if pattern.contains("***") {
            return Err("`***` has no meaning; `**` matches any number of directories".to_owned());
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(format!("it is longer than {MAX_PATTERN_BYTES} bytes"));
        }

        let pattern = composed(pattern);
        let alphabet = Alphabet::new(&pattern);
        let matcher = GlobBuilder::new(&alphabet.encode(&pattern))
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .build()
            .map_err(|error| error.kind().to_string())?
            .compile_matcher();

        Ok(Self { matcher, alphabet, matches_last_segment: false })
    }

    /// Returns whether `name`, with `/` between its segments, matches the pattern.
    pub(crate) fn is_match(&self, name: &str) -> bool {
        let name = &*composed(name);
        let last_segment = name.rsplit('/').next().unwrap_or(name);
        let text = if self.matches_last_segment { last_segment } else { name };
        self.matcher.is_match(self.alphabet.encode(text))
    }
}

/// The characters of a pattern that are not ASCII.
///
/// The library matches bytes. Each of these characters is encoded as one control character, and every other character
/// that is not ASCII as [`Self::OTHER`], so that `?` matches one character. Names of files contain no control
/// characters.
#[derive(Clone, Debug)]
struct Alphabet(Vec<char>);

impl Alphabet {
    const OTHER: char = '\u{7f}';

    fn new(pattern: &str) -> Self {
        let distinct: BTreeSet<_> = pattern.chars().filter(|character| !character.is_ascii()).collect();
        Self(distinct.into_iter().collect())
    }

    fn encode(&self, text: &str) -> String {
        let encode = |character: char| {
            if character.is_ascii() {
                return character;
            }
            let code = self
                .0
                .iter()
                .position(|known| *known == character)
                .and_then(|index| u8::try_from(index + 1).ok());
            code.map(char::from).filter(char::is_ascii_control).unwrap_or(Self::OTHER)
        };
        text.chars().map(encode).collect()
    }
}

/// Returns whether `name` contains a character with a special meaning in patterns.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// Reason why a search was stopped.
#[derive(Debug)]
pub(crate) enum SearchError {
    /// The pattern is not valid.
    Pattern(String),
    /// A directory that may contain matching files cannot be read.
    Unreadable(PathBuf, io::Error),
}

/// Returns the regular files that match `pattern`, in alphabetical order. Relative patterns begin at `base`.
///
/// # Errors
/// The pattern is not valid, or a directory cannot be read.
pub(crate) fn find_files(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, SearchError> {
    let is_fixed = |component: &Component<'_>| !is_pattern(&component.as_os_str().to_string_lossy());
    let components = Path::new(pattern).components();
    let fixed: PathBuf = components.clone().take_while(is_fixed).collect();
    let variable = components.skip_while(is_fixed);
    let segments: Vec<_> = variable.map(|one| one.as_os_str().to_string_lossy().into_owned()).collect();

    let mut search = PatternSearch::new(&segments).map_err(SearchError::Pattern)?;
    search.visit(&existing_path(&base.join(fixed), names_in), "")?;

    Ok(search.found)
}

/// A search below the fixed part of a pattern.
struct PatternSearch {
    /// Matches the names of the files.
    files: FilePattern,
    /// Match the names of the directories that may contain matching files.
    directories: Vec<FilePattern>,
    /// Resolved paths of the directories that are being visited.
    ancestors: Vec<PathBuf>,
    found: Vec<PathBuf>,
}

impl PatternSearch {
    /// Compiles the pattern that consists of `segments`.
    fn new(segments: &[String]) -> Result<Self, String> {
        let files = FilePattern::of_whole_names(&segments.join("/"))?;

        let mut directories = Vec::new();
        for length in 1..=segments.len() {
            let (prefix, rest) = segments.split_at(length);
            if !rest.is_empty() || prefix.last().is_some_and(|last| last == "**") {
                directories.push(FilePattern::of_whole_names(&prefix.join("/"))?);
            }
        }

        Ok(Self { files, directories, ancestors: Vec::new(), found: Vec::new() })
    }

    /// Adds the matching files below `directory`, which has the name `relative` in terms of the pattern.
    fn visit(&mut self, directory: &Path, relative: &str) -> Result<(), SearchError> {
        // A link to an ancestor would lead to an endless search.
        let resolved = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        if self.ancestors.contains(&resolved) {
            return Ok(());
        }

        self.ancestors.push(resolved);
        for entry in sorted_entries(directory)? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            let path = entry.path();
            if path.is_dir() {
                if self.directories.iter().any(|directory| directory.is_match(&name)) {
                    self.visit(&path, &name)?;
                }
            } else if self.files.is_match(&name) && path.is_file() {
                self.found.push(path);
            }
        }
        self.ancestors.pop();

        Ok(())
    }
}

/// Returns the entries of a directory in alphabetical order; none if there is no such directory.
fn sorted_entries(directory: &Path) -> Result<Vec<DirEntry>, SearchError> {
    let entries = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);

    match entries {
        Ok(mut entries) => {
            entries.sort_by_key(DirEntry::file_name);
            Ok(entries)
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(SearchError::Unreadable(directory.to_owned(), error)),
    }
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
            ("?.log", "u\u{308}.log", true),
            ("caf\u{e9}*", "cafe\u{301}.log", true),
            ("cafe\u{301}*", "caf\u{e9}.log", true),
        ]);
    }

    #[test]
    fn a_class_matches_one_of_its_characters_or_any_other_one() {
        check(&[
            ("[ab].log", "b.log", true),
            ("[!ab].log", "b.log", false),
            ("[^ab].log", "c.log", true),
            ("a[!b]c/d", "a/c/d", false),
            ("a[+-0]c", "a/c", false),
            ("[]-].log", "].log", true),
            ("[b-d-].log", "c.log", true),
            ("[b-d-].log", "-.log", true),
            ("[a&&b]", "&", true),
            ("[éü].log", "ü.log", true),
            ("[!éü].log", "ö.log", true),
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
            ("[a", "unclosed character class; missing ']'"),
            ("[]", "unclosed character class; missing ']'"),
            ("[b-a]", "invalid range; 'b' > 'a'"),
            ("{a", "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"),
            ("a}", "unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)"),
            ("a\\", "dangling '\\'"),
        ] {
            assert_eq!(FilePattern::new(pattern).expect_err(pattern), expected);
        }
    }

    #[test]
    fn any_pattern_is_compiled_or_refused() {
        check_texts(&("[a-b*?\\[\\]{},!^&/é\\\\-]{0,40}", text()), |(pattern, name)| {
            for pattern in [&pattern, &name] {
                if let Ok(compiled) = FilePattern::new(pattern) {
                    compiled.is_match(&name);
                    compiled.is_match(&"ab/".repeat(200));
                }
            }
        });
    }

    #[test]
    fn a_deeply_nested_pattern_is_compiled_or_refused() {
        for depth in [1, 100, 400, 100_000] {
            let pattern = "{".repeat(depth) + "a" + &"}".repeat(depth);
            let compiled = FilePattern::new(&pattern);
            assert!(compiled.is_err() || compiled.is_ok_and(|compiled| compiled.is_match("a")), "{depth}");
        }
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
