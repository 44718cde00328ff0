//! Filters of lists (supplement 1.3).

use serde::Serialize;
use serde_json::json;

/// Whether `tags` has every one of `request`.
pub(crate) fn has_all_tags(tags: &[String], request: Option<&[String]>) -> bool {
    request.unwrap_or_default().iter().all(|tag| tags.contains(tag))
}

/// Whether a filter lets `value` pass; ids are compared without regard to letter case.
pub(crate) fn matches_id(filter: Option<&str>, value: Option<&str>) -> bool {
    filter.is_none_or(|filter| value.is_some_and(|value| value.eq_ignore_ascii_case(filter)))
}

/// The word of the service for a value of an enum that a list is filtered by.
pub(crate) fn word(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
