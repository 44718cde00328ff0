//! Lists of the service, which come in pages.
//!
//! `read_all` reads every page of a list, several pages at a time. It takes the request of a page as a closure, so that each
//! reader keeps its own way to the service.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::{
    failure::{Code, Failure},
    fields::Fields,
};

/// Records per page: the largest page that the service returns (service.md 1.3).
pub(super) const PAGE_SIZE: u64 = 100;

/// Largest number of pages of a list that most readers read.
pub(crate) const MAX_PAGES: u64 = 20;

/// Largest number of pages of a list that is read completely to find or sort its records.
pub(crate) const LONG_LIST_PAGES: u64 = 50;

/// Largest number of requests that one reader has in flight.
pub(crate) const MAX_CONCURRENT_REQUESTS: usize = 8;

/// One page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) records: Vec<Value>,
    /// Number of pages of the whole list, if the service states it.
    pub(crate) total_pages: Option<u64>,
    /// Number of records of the whole list, if the service states it.
    pub(crate) total_records: Option<u64>,
}

impl Page {
    /// Parses the answer of the operation `list`.
    ///
    /// # Errors
    /// `bad_response` if the answer has no list `data`: taken as an empty page, it would look like the end of the list.
    pub(crate) fn parse(list: &str, mut answer: Value) -> Result<Self, Failure> {
        let total = |name: &str| answer.pointer(&format!("/pagination/{name}")).and_then(Value::as_u64);
        let (total_pages, total_records) = (total("total_pages"), total("total_count"));

        let Some(Value::Array(records)) = answer.get_mut("data").map(Value::take) else {
            let message = format!("{list}: the service's answer is not a list");
            return Err(Failure::new(Code::BadResponse, message));
        };

        Ok(Self { records, total_pages, total_records })
    }

    /// Returns whether this page, which has the number `number`, is the last one. If the service does not state the
    /// number of pages, only an empty page proves the end.
    pub(crate) fn is_last(&self, number: u64) -> bool {
        self.total_pages.map_or(self.records.is_empty(), |total| number + 1 >= total)
    }
}

/// Returns the arguments that request the page `number` of a list. `filter` holds the other arguments of the list.
pub(crate) fn page_arguments(filter: &Fields, number: u64) -> Fields {
    let mut arguments = filter.clone();
    arguments.insert("page".to_owned(), json!(number));
    arguments.insert("page_size".to_owned(), json!(PAGE_SIZE));
    arguments
}

/// Returns whether a failed request of the first page means that the service does not have the list: it answers
/// unknown paths and unknown filters with 404, 405 or 400.
pub(crate) fn is_list_missing(code: Code) -> bool {
    matches!(code, Code::NotFound | Code::Rejected | Code::InvalidArguments)
}

/// The records that [`read_all`] has read.
#[derive(Debug, Default)]
pub(crate) struct ListRecords {
    pub(crate) records: Vec<Value>,
    /// Pages that could not be read, each with the reason.
    pub(crate) failed_pages: Vec<(u64, Failure)>,
    /// Whether the list has, or may have, more pages than the limit.
    pub(crate) has_more_pages: bool,
}

/// Reads all pages of a list, at most `max_pages`. `read` requests the page with a number.
///
/// The pages after the first are read concurrently if the first page states how many there are.
///
/// # Errors
/// The failure of the first page. A failure of a later page is part of the result.
pub(crate) async fn read_all<R, F>(max_pages: u64, read: R) -> Result<ListRecords, Failure>
where
    R: Fn(u64) -> F,
    F: Future<Output = Result<Page, Failure>>,
{
    let first = read(0).await?;
    match first.total_pages {
        Some(total) => Ok(read_concurrently(first, total, max_pages, read).await),
        None => Ok(read_sequentially(first, max_pages, read).await),
    }
}

async fn read_concurrently<R, F>(first: Page, total_pages: u64, max_pages: u64, read: R) -> ListRecords
where
    R: Fn(u64) -> F,
    F: Future<Output = Result<Page, Failure>>,
{
    let numbers = 1..total_pages.min(max_pages);
    let pages: Vec<_> =
        stream::iter(numbers.clone()).map(read).buffered(MAX_CONCURRENT_REQUESTS).collect().await;
    let mut list = ListRecords { has_more_pages: total_pages > max_pages, ..ListRecords::default() };
    list.records.extend(first.records);

    for (number, page) in numbers.zip(pages) {
        match page {
            Ok(page) => list.records.extend(page.records),
            Err(failure) => list.failed_pages.push((number, failure)),
        }
    }

    list
}

/// Reads the pages of a list for which the service states no number of pages.
async fn read_sequentially<R, F>(first: Page, max_pages: u64, read: R) -> ListRecords
where
    R: Fn(u64) -> F,
    F: Future<Output = Result<Page, Failure>>,
{
    let mut list = ListRecords::default();
    list.records.extend(first.records);
    if list.records.is_empty() {
        return list;
    }

    for number in 1..max_pages {
        match read(number).await {
            // An empty page is the end. A service without pages repeats the same records for every page number.
            Ok(page) if list.records.ends_with(&page.records) => return list,
            Ok(page) => list.records.extend(page.records),
            Err(failure) => {
                list.failed_pages.push((number, failure));
                return list;
            }
        }
    }

    list.has_more_pages = true;

    list
}

/// Returns the records sorted by the field `id_field`, each id once.
///
/// Pages shift while a list is read, so that a record can appear twice; the last one is kept. Records without an id
/// follow at the end, all of them, because nothing shows which of them are equal.
pub(crate) fn deduplicate(records: Vec<Value>, id_field: &str) -> Vec<Value> {
    let mut by_id = BTreeMap::new();
    let mut without_id = Vec::new();

    for record in records {
        match record.get(id_field).and_then(Value::as_str) {
            Some(id) => drop(by_id.insert(id.to_ascii_lowercase(), record)),
            None => without_id.push(record),
        }
    }

    without_id.sort_by_cached_key(Value::to_string);

    by_id.into_values().chain(without_id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_record_of_an_id_is_kept() {
        let records = ["B", "a", "b"].map(|id| json!({"id": id})).into_iter().chain([json!({"n": 1})]);
        let expected = [json!({"id": "a"}), json!({"id": "b"}), json!({"n": 1})];
        assert_eq!(deduplicate(records.collect(), "id"), expected);
    }
}
