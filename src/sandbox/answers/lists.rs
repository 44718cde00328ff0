//! Lists: filters, order and pages (service.md 1.3).

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::json;

use crate::sandbox::model::time::Moment;
use crate::service::api::{ListPage, PageNumber, PageSize, Pagination, SortOrder};

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
