//! Filters of lists (supplement 1.3).

use serde::Serialize;
use serde_json::json;

/// Returns whether `tags` contains every tag of `request`.
pub(crate) fn has_all_tags(tags: &[String], request: Option<&[String]>) -> bool {
    request.unwrap_or_default().iter().all(|tag| tags.contains(tag))
}

/// Returns whether `value` passes a filter. Letter case is ignored, as in UUIDs.
pub(crate) fn matches_id(filter: Option<&str>, value: Option<&str>) -> bool {
    filter.is_none_or(|filter| value.is_some_and(|value| value.eq_ignore_ascii_case(filter)))
}

/// Returns the word of the service for a value of an enum.
pub(crate) fn word(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
