//! Lists of records: filters, order and pages (service.md 1.3). Patches of a record: objects are merged, and other values are replaced
//! (service.md 4.4).

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::{Value, json};

use crate::sandbox::answers::answer::ApiError;
use crate::sandbox::model::time::Moment;
use crate::service::api::{ListPage, Open, PageNumber, PageSize, Pagination, SortOrder};
use crate::service::lenient::{View, view};

/// Returns the requested page of `records`, each converted by `to_record`.
pub(super) fn page<R, T, const DEFAULT: usize>(
    records: Vec<R>,
    page: Option<PageNumber>,
    size: Option<PageSize<DEFAULT>>,
    to_record: impl Fn(R) -> T,
) -> ListPage<T> {
    let (page, size) = (page.unwrap_or_default().0, size.unwrap_or_default().0.max(1));
    let total = records.len();
    // The answer to a page past the end is uncertain. Here it is an empty list (service.md 1.3).
    let data = records.into_iter().skip(page.saturating_mul(size)).take(size).map(to_record).collect();
    ListPage { data, pagination: pagination(page, size, total) }
}

/// Returns all records in one page, for lists without paging arguments.
pub(super) fn single_page<T>(data: Vec<T>) -> ListPage<T> {
    let total = data.len();
    ListPage { data, pagination: pagination(0, total.max(20), total) }
}

/// Sorts records by creation, newest first. Among records of the same moment, the last comes first.
pub(super) fn newest_first<R>(
    oldest_first: impl Iterator<Item = R>,
    created: impl Fn(&R) -> Moment,
) -> Vec<R> {
    let mut records: Vec<_> = oldest_first.collect();
    records.reverse();
    records.sort_by_key(|record| Reverse(created(record)));
    records
}

pub(super) fn in_order<R>(mut ascending: Vec<R>, order: SortOrder) -> Vec<R> {
    if order == SortOrder::Desc {
        ascending.reverse();
    }
    ascending
}

fn pagination(page: usize, size: usize, total: usize) -> Pagination {
    let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    Pagination {
        page: number(page),
        page_size: number(size),
        total_count: Some(number(total)),
        total_pages: Some(number(total.div_ceil(size))),
    }
}

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

/// Returns `record` with `patch` merged into it, which must be a valid record.
pub(super) fn patched<T: Serialize + View>(record: &T, patch: Open) -> Result<T, ApiError> {
    let invalid = |error: serde_json::Error| ApiError::invalid(format!("invalid request: patch: {error}"));
    let mut value = serde_json::to_value(record).map_err(invalid)?;
    merge(&mut value, Value::Object(patch));

    let patched = view(&value);
    match lost_field(&value, &serde_json::to_value(&patched).map_err(invalid)?) {
        Some(field) => Err(ApiError::invalid(format!("invalid request: patch: unexpected value of {field}"))),
        None => Ok(patched),
    }
}

/// Returns the path of a value in `record` that `kept` lacks, because a view leaves out what it cannot read.
fn lost_field(record: &Value, kept: &Value) -> Option<String> {
    let below = |name: &str, value: &Value, kept: Option<&Value>| {
        let path = lost_field(value, kept.unwrap_or(&Value::Null))?;
        Some(if path.is_empty() { name.to_owned() } else { format!("{name}.{path}") })
    };

    match (record, kept) {
        (Value::Null, _) => None,
        (Value::Object(fields), Value::Object(kept)) => {
            fields.iter().find_map(|(name, value)| below(name, value, kept.get(name)))
        }
        (Value::Array(entries), Value::Array(kept)) => {
            let mut numbered = entries.iter().enumerate();
            numbered.find_map(|(index, value)| below(&index.to_string(), value, kept.get(index)))
        }
        _ => (record != kept).then(String::new),
    }
}

/// Merges objects at every depth. `null` removes a field. The service may store `null` instead (service.md 17).
fn merge(value: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *value = patch;
        return;
    };

    if !value.is_object() {
        *value = Value::Object(Open::new());
    }

    let Value::Object(object) = value else { return };
    for (name, change) in patch {
        if change.is_null() {
            object.shift_remove(&name);
        } else {
            merge(object.entry(name).or_insert(Value::Null), change);
        }
    }
}
