//! Texts of the service, as the answer shows them.

use serde_json::Value;

use super::{case::Case, outcome::TestName};
use crate::tools::waiting::item::text;

pub(super) use crate::{text::shorten_line, tools::waiting::item::LONGEST_NAME};

/// Longest texts of an answer, in characters.
pub(super) const LONGEST_ID: usize = 64;
pub(super) const LONGEST_WORD: usize = 40;

/// The test of a case, as the answer names it.
pub(super) fn test_name(case: &Case) -> TestName {
    TestName {
        name: shorten_line(case.name(), LONGEST_NAME),
        id: case.test_id.as_ref().map(|id| shorten_line(id, LONGEST_ID)),
    }
}

/// The value of a field as text, where there is any.
pub(super) fn filled(value: &Value, name: &str) -> Option<String> {
    text(value, name).filter(|text| !text.trim().is_empty())
}
