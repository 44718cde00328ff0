//! File names that the service or a caller chooses. A name is used unchanged or refused. It is never changed into
//! another name, so that two names cannot become equal.

use crate::text::{REPLACEMENT, has_hidden};

/// Longest segment in bytes. File systems allow 255, and the names of incomplete files are longer than the final names.
const MAX_SEGMENT_BYTES: usize = 240;

/// Longest path in bytes.
const MAX_PATH_BYTES: usize = 1_000;

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Prefixes of device names on Windows that are followed by a digit.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Characters that this system does not allow in file names.
const FORBIDDEN: &[char] = if cfg!(windows) { &[':', '<', '>', '"', '|', '?', '*'] } else { &[] };

/// Returns why `name`, a relative name with `/` between its segments, cannot be the name of a local file, or `None` if
/// it can.
pub fn path_problem(name: &str) -> Option<&'static str> {
    shape_problem(name).or_else(|| name.split('/').find_map(effect_problem))
}

/// Returns why `name` cannot be the name of a remote file, or `None` if it can. The file may need another local name.
pub(crate) fn shape_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("is empty");
    }
    if name.len() > MAX_PATH_BYTES {
        return Some("is too long");
    }
    if name.starts_with('/') || has_drive_letter(name) {
        return Some("is absolute");
    }

    name.split('/').find_map(segment_shape_problem)
}

/// Returns why `segment` cannot be the name of a single file or directory, or `None` if it can.
pub(super) fn segment_problem(segment: &str) -> Option<&'static str> {
    segment_shape_problem(segment).or_else(|| effect_problem(segment))
}

/// Returns why other programs could act on a file or directory with the name `segment`.
fn effect_problem(segment: &str) -> Option<&'static str> {
    match segment.chars().next() {
        Some('.') => Some("has a segment that begins with a dot, as files do that programs act on"),
        Some('-') => Some("has a segment that begins with `-`, as options of programs do"),
        _ => None,
    }
}

fn segment_shape_problem(segment: &str) -> Option<&'static str> {
    Some(match segment {
        "" => "has an empty segment",
        "." => "has the segment `.`",
        ".." => "has the segment `..`",
        _ if segment.contains('\\') => "has a backslash",
        _ if segment.contains(char::is_control) => "has a control character",
        _ if has_hidden(segment) => "has an invisible character",
        _ if segment.contains(REPLACEMENT) => "has a character that cannot be shown",
        _ if segment.contains(FORBIDDEN) => "has a character that this system does not allow",
        _ if has_drive_letter(segment) => "has a drive letter",
        _ if segment.ends_with(['.', ' ']) => "has a segment that ends with a dot or a space",
        _ if is_device(segment) => "has a segment that Windows takes for a device",
        _ if segment.len() > MAX_SEGMENT_BYTES => "has a segment that is too long",
        _ => return None,
    })
}

fn has_drive_letter(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn is_device(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default().trim_end_matches(' ').to_lowercase();
    let is_digit = |rest: &str| matches!(rest.chars().collect::<Vec<_>>()[..], ['0'..='9' | '¹' | '²' | '³']);
    let is_numbered = |device: &str| stem.strip_prefix(device).is_some_and(is_digit);
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.into_iter().any(is_numbered)
}
