//! Parsers of the values. An error is the end of a sentence that begins with the name of the setting.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use tracing_subscriber::filter::Targets;

use crate::{
    client::{KeySource, read_certificates},
    service::request::encoded,
    tools::{
        files::FilesRoot,
        selection::{Selection, UnknownWord},
    },
};

/// Maximum of the time limit of one request, in seconds. Hosts give up a call after 60 seconds.
const MAX_TIMEOUT_S: u64 = 45;

/// Maximum length of a project id in a path, in bytes.
const MAX_PROJECT_ID_BYTES: usize = 300;

/// Parses a project id. The id becomes one segment of a path, so `.` and `..` are refused.
pub(super) fn project_id(text: &str) -> Result<String, String> {
    if text == "." || text == ".." || encoded(text).len() > MAX_PROJECT_ID_BYTES {
        return Err("is not a project id".to_owned());
    }
    Ok(text.to_owned())
}

/// Parses a comma-separated list of project ids.
pub(super) fn project_ids(text: &str) -> Result<Vec<String>, String> {
    text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(project_id).collect()
}

pub(super) fn toolsets(words: &str) -> Result<Selection, UnknownWord> {
    Selection::parse(words, false)
}

pub(super) fn files_root(path: &str) -> Result<FilesRoot, String> {
    FilesRoot::new(Path::new(path))
}

pub(super) fn key_file(path: &str) -> Result<KeySource, String> {
    KeySource::file(PathBuf::from(path))
}

/// Returns the path of a file if the file contains certificates.
pub(super) fn certificate_file(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    read_certificates(&path).map(|_| path)
}

/// Parses the word for the test-management system, which becomes a part of paths and field names.
pub(super) fn tmsys_name(text: &str) -> Result<String, String> {
    let is_word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if is_word {
        Ok(text.to_owned())
    } else {
        Err("must contain only lower-case letters, digits and `_`".to_owned())
    }
}

/// Parses the time limit of one request.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=MAX_TIMEOUT_S).contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("must be a whole number from 1 to {MAX_TIMEOUT_S}"))
}

/// Parses the maximum length of a reply.
pub(super) fn reply_length(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (2_000..=1_000_000).contains(number));
    number.ok_or_else(|| "must be a whole number from 2000 to 1000000".to_owned())
}

/// Parses a yes or no, in any case and in the usual words.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

pub(super) fn log_filter(text: &str) -> Result<Targets, String> {
    text.parse().map_err(|error| format!("is not a log filter: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_ids_are_separated_by_commas() {
        for (text, expected) in [
            ("demo", Some(vec!["demo"])),
            (" demo , arena,", Some(vec!["demo", "arena"])),
            ("", Some(vec![])),
            ("demo,..", None),
            ("a/b", Some(vec!["a/b"])),
        ] {
            let ids = project_ids(text).ok();
            assert_eq!(ids, expected.map(|ids| ids.into_iter().map(str::to_owned).collect()), "{text}");
        }

        assert!(project_id(&"a".repeat(300)).is_ok());
        assert!(project_id(&"a".repeat(301)).is_err());
    }

    #[test]
    fn a_timeout_is_a_whole_number_of_seconds_from_1_to_45() {
        for (text, expected) in
            [("1", Some(1)), ("45", Some(45)), ("0", None), ("46", None), ("1.5", None), ("-1", None)]
        {
            assert_eq!(timeout(text).ok(), expected.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn a_boolean_is_one_of_eight_words() {
        let cases = [
            ("TRUE", Some(true)),
            ("1", Some(true)),
            ("yes", Some(true)),
            ("On", Some(true)),
            ("false", Some(false)),
            ("0", Some(false)),
            ("no", Some(false)),
            ("off", Some(false)),
            ("perhaps", None),
        ];

        for (text, expected) in cases {
            assert_eq!(boolean(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn the_word_for_the_test_management_system_has_no_path_characters() {
        for (text, is_word) in [("tmsys", true), ("acme_rail2", true), ("a/b", false), ("Acme", false)] {
            assert_eq!(tmsys_name(text).is_ok(), is_word, "{text}");
        }
    }
}
