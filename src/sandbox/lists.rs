//! Pages of lists (supplement 1.3).

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::json;

use super::clock::Moment;
use crate::service::api::{ListPage, Page, PageSize, Pagination, SortOrder};

/// The asked page of `records`, each shown by `show`.
pub(super) fn page<R, T, const DEFAULT: usize>(
    records: Vec<R>,
    page: Option<Page>,
    size: Option<PageSize<DEFAULT>>,
    show: impl Fn(R) -> T,
) -> ListPage<T> {
    let (page, size) = (page.unwrap_or_default().0, size.unwrap_or_default().0.max(1));
    let total = records.len();
    let data = records.into_iter().skip(page.saturating_mul(size)).take(size).map(show).collect();
    ListPage { data, pagination: pagination(page, size, total) }
}

/// Everything in one page.
pub(super) fn single_page<T>(data: Vec<T>) -> ListPage<T> {
    let total = data.len();
    ListPage { data, pagination: pagination(0, total.max(20), total) }
}

/// Records with the latest first; of those made at one moment, the last.
pub(super) fn newest_first<R>(oldest_first: impl Iterator<Item = R>, made: impl Fn(&R) -> Moment) -> Vec<R> {
    let mut records: Vec<_> = oldest_first.collect();
    records.reverse();
    records.sort_by_key(|record| Reverse(made(record)));
    records
}

/// Turns ascending records round when a descending order is asked for.
pub(super) fn ordered<R>(mut ascending: Vec<R>, order: SortOrder) -> Vec<R> {
    if order == SortOrder::Desc {
        ascending.reverse();
    }
    ascending
}

/// Whether `tags` has every one of `asked`.
pub(super) fn carries(tags: &[String], asked: Option<&[String]>) -> bool {
    asked.unwrap_or_default().iter().all(|tag| tags.contains(tag))
}

/// Whether a filter lets `value` pass; ids are compared without regard to letter case.
pub(super) fn passes(filter: Option<&str>, value: Option<&str>) -> bool {
    filter.is_none_or(|filter| value.is_some_and(|value| value.eq_ignore_ascii_case(filter)))
}

/// The word of the service for a value of an enum that a list is filtered by.
pub(super) fn word(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

fn pagination(page: usize, size: usize, total: usize) -> Pagination {
    let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    Pagination {
        page: number(page),
        page_size: number(size),
        total_count: number(total),
        total_pages: number(total.div_ceil(size)),
    }
}
