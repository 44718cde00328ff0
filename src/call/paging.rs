//! Lists of the service, read to their end: which pages there are, what of them is missing, and which records are one.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    failure::{Code, Failure},
    fields::Fields,
};

/// Records a page; the most that the service gives (supplement 1.3).
const PAGE_SIZE: usize = 100;

/// Most pages of a list.
pub(crate) const MOST_PAGES: u64 = 20;

/// Most requests of one look or summary under way at once.
pub(crate) const AT_ONCE: usize = 8;

/// Something that could not be read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Unread {
    pub what: String,
    pub why: String,
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) records: Vec<Value>,
    /// How many the list has, where the service says so.
    pages: Option<u64>,
}

impl Page {
    /// The page that `operation` answered. An answer that is no list would look like the end of one.
    pub(crate) fn of(operation: &str, mut answer: Value) -> Result<Self, Failure> {
        let pages = answer.pointer("/pagination/total_pages").and_then(Value::as_u64);
        let Some(Value::Array(records)) = answer.get_mut("data").map(Value::take) else {
            let message = format!("{operation}: the service's answer is not a list");
            return Err(Failure::new(Code::BadResponse, message));
        };
        Ok(Self { records, pages })
    }

    /// Whether no page follows it, which has this number. Where the service does not say how many there are, only an
    /// empty page is known to be the end.
    pub(crate) fn is_last(&self, number: u64) -> bool {
        self.pages.map_or(self.records.is_empty(), |pages| number + 1 >= pages)
    }
}

/// The arguments that ask for a page of the list that `filter` narrows.
pub(crate) fn page_arguments(filter: &Fields, page: u64) -> Fields {
    let mut arguments = filter.clone();
    arguments.insert("page".to_owned(), json!(page));
    arguments.insert("page_size".to_owned(), json!(PAGE_SIZE));
    arguments
}

/// What a list has shown.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) records: Vec<Value>,
    /// Pages that could not be read, each with the reason.
    pub(crate) lost: Vec<(u64, Failure)>,
    /// Whether it has, or may have, more than [`MOST_PAGES`].
    pub(crate) is_longer: bool,
}

/// Everything that a list has, page by page from `ask`. Without the first page there is nothing.
pub(crate) async fn all<A, F>(ask: A) -> Result<Listed, Failure>
where
    A: Fn(u64) -> F,
    F: Future<Output = Result<Page, Failure>>,
{
    let first = ask(0).await?;
    match first.pages {
        Some(pages) => Ok(side_by_side(first, pages, ask).await),
        None => Ok(one_by_one(first, ask).await),
    }
}

async fn side_by_side<A, F>(first: Page, pages: u64, ask: A) -> Listed
where
    A: Fn(u64) -> F,
    F: Future<Output = Result<Page, Failure>>,
{
    let numbers = 1..pages.min(MOST_PAGES);
    let rest: Vec<_> = stream::iter(numbers.clone()).map(ask).buffered(AT_ONCE).collect().await;
    let mut listed = Listed { records: first.records, lost: Vec::new(), is_longer: pages > MOST_PAGES };

    for (number, answer) in numbers.zip(rest) {
        match answer {
            Ok(page) => listed.records.extend(page.records),
            Err(failure) => listed.lost.push((number, failure)),
        }
    }

    listed
}

/// For a service that does not say how many pages there are.
async fn one_by_one<A, F>(first: Page, ask: A) -> Listed
where
    A: Fn(u64) -> F,
    F: Future<Output = Result<Page, Failure>>,
{
    let mut listed = Listed { records: first.records, ..Listed::default() };
    if listed.records.is_empty() {
        return listed;
    }

    for number in 1..MOST_PAGES {
        match ask(number).await {
            // Nothing more, or the same again from a service that has no pages.
            Ok(page) if listed.records.ends_with(&page.records) => return listed,
            Ok(page) => listed.records.extend(page.records),
            Err(failure) => {
                listed.lost.push((number, failure));
                return listed;
            }
        }
    }

    listed.is_longer = true;

    listed
}

/// The records in the order of their ids, each once: pages shift while they are read, and the last that was seen
/// counts. Of those without an id, nobody knows whether two are one.
pub(crate) fn each_once(records: Vec<Value>, id: &str) -> Vec<Value> {
    let mut known = BTreeMap::new();
    let mut nameless = Vec::new();

    for record in records {
        match record.get(id).and_then(Value::as_str) {
            Some(id) => drop(known.insert(id.to_ascii_lowercase(), record)),
            None => nameless.push(record),
        }
    }

    nameless.sort_by_cached_key(Value::to_string);

    known.into_values().chain(nameless).collect()
}
