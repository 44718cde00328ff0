//! Filters of lists (service.md 1.3).

use serde::Serialize;
use serde_json::json;

/// Returns whether `tags` contains every tag of `request`.
pub(super) fn has_all_tags(tags: &[String], request: Option<&[String]>) -> bool {
    // A filter with several tags selects records that have all of them (service.md 1.3).
    request.unwrap_or_default().iter().all(|tag| tags.contains(tag))
}

/// Returns whether `value` passes a filter. Letter case is ignored, because UUIDs are equal in either case.
pub(super) fn matches_id(filter: Option<&str>, value: Option<&str>) -> bool {
    filter.is_none_or(|filter| value.is_some_and(|value| value.eq_ignore_ascii_case(filter)))
}

/// Returns the name that the service uses for a value of an enum.
pub(super) fn wire_name(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
