//! Names of files that somebody else has chosen: taken as they are, or refused. They are never changed into others, so
//! that no two of them meet.

use crate::text::is_hidden;

/// Longest name of a file or directory, in bytes: file systems take 255, and unfinished files have longer names.
const LONGEST_SEGMENT: usize = 240;

/// Longest name with its directories, in bytes.
const LONGEST: usize = 1_000;

/// Names that Windows takes for devices, whatever their extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Beginnings of such names that a digit follows.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Characters of paths that no name has on this system.
const FORBIDDEN: &[char] = if cfg!(windows) { &[':', '<', '>', '"', '|', '?', '*'] } else { &[] };

/// Why a relative name, with `/` between its directories, cannot be one of a file here.
pub fn path_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("is empty");
    }
    if name.len() > LONGEST {
        return Some("is too long");
    }
    if name.starts_with('/') || is_on_drive(name) {
        return Some("is absolute");
    }

    name.split('/').find_map(segment_problem)
}

/// Why the name of one file or directory cannot be one here.
pub fn segment_problem(name: &str) -> Option<&'static str> {
    let has = |is: fn(char) -> bool| name.chars().any(is);
    Some(match name {
        "" => "has an empty segment",
        "." => "has the segment `.`",
        ".." => "has the segment `..`",
        _ if name.contains('\\') => "has a backslash",
        _ if has(char::is_control) => "has a control character",
        _ if has(is_hidden) => "has an invisible character",
        _ if name.contains(FORBIDDEN) => "has a character that this system does not take",
        _ if is_on_drive(name) => "has a drive letter",
        _ if name.ends_with(['.', ' ']) => "has a segment that ends with a dot or a space",
        _ if is_device(name) => "has a segment that Windows takes for a device",
        _ if name.len() > LONGEST_SEGMENT => "has a segment that is too long",
        _ => return None,
    })
}

fn is_on_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_lowercase();
    let is_digit = |rest: &str| matches!(rest.chars().collect::<Vec<_>>()[..], ['0'..='9' | '¹' | '²' | '³']);
    let is_numbered = |device: &str| stem.strip_prefix(device).is_some_and(is_digit);
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.into_iter().any(is_numbered)
}
