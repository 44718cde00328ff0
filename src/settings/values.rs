//! What the text of a setting means, and what is wrong with it.

use std::{path::PathBuf, time::Duration};

use crate::service::request::encoded;

/// Longest limit of one request, in seconds: hosts give up a call after 60.
const LONGEST_TIMEOUT_S: u64 = 45;

pub(super) fn project_id(text: &str) -> Result<String, String> {
    if text == "." || text == ".." || encoded(text).len() > 300 {
        return Err("is not a project id".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn project_ids(text: &str) -> Result<Vec<String>, String> {
    text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(project_id).collect()
}

pub(super) fn readable_certificates(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    crate::client::certificates(&path).map(|_| path)
}

pub(super) fn tmsys_name(text: &str) -> Result<String, String> {
    let word = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if word { Ok(text.to_owned()) } else { Err("must be lower-case letters, digits and `_` only".to_owned()) }
}

pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=LONGEST_TIMEOUT_S).contains(seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("must be a whole number from 1 to {LONGEST_TIMEOUT_S}"))
}

pub(super) fn asks_first(text: &str) -> Result<bool, String> {
    match text {
        "ask" => Ok(true),
        "never" => Ok(false),
        _ => Err("must be `ask` or `never`".to_owned()),
    }
}

pub(super) fn max_reply_chars(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (2_000..=1_000_000).contains(number));
    number.ok_or_else(|| "must be a whole number from 2000 to 1000000".to_owned())
}

pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

/// Parses a log filter.
pub fn log_filter(text: &str) -> Result<tracing_subscriber::filter::Targets, String> {
    text.parse().map_err(|error| format!("is not a log filter: {error}"))
}
