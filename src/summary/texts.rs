//! Texts of the service, as the answer shows them.

use serde_json::Value;

use super::{case::Case, outcome::TestName};
use crate::{reply::is_hidden, waiting::item::text};

/// Longest texts of an answer, in characters.
pub(super) const LONGEST_ID: usize = 64;
pub(super) const LONGEST_NAME: usize = 80;
pub(super) const LONGEST_WORD: usize = 40;

/// The test of a case, as the answer names it.
pub(super) fn test_name(case: &Case) -> TestName {
    TestName {
        name: shortened(case.name(), LONGEST_NAME),
        id: case.test_id.as_ref().map(|id| shortened(id, LONGEST_ID)),
    }
}

/// A text of the service in one line of at most `most` characters, without what nobody sees.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let visible: String = text.chars().filter(|one| !is_hidden(*one)).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The value of a field as text, where there is any.
pub(super) fn filled(value: &Value, name: &str) -> Option<String> {
    text(value, name).filter(|text| !text.trim().is_empty())
}
