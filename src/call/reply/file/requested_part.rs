//! The part of a file that a caller has requested.

use serde_json::Value;

use crate::{fields::Fields, service::api::artifacts::DEFAULT_PART};

/// A part of a file.
pub(super) struct RequestedPart<'a> {
    pub(super) filename: &'a str,
    pub(super) offset: u64,
    pub(super) length: usize,
}

impl<'a> RequestedPart<'a> {
    pub(super) fn from_arguments(arguments: &'a Fields) -> Self {
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        let length = number("length").unwrap_or(DEFAULT_PART);
        Self {
            filename: arguments.get("filename").and_then(Value::as_str).unwrap_or_default(),
            offset: number("offset").unwrap_or_default(),
            length: usize::try_from(length).unwrap_or(usize::MAX),
        }
    }
}
