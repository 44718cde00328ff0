//! Looking at many jobs with few requests: a page of a list shows a hundred of them.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::item::{Item, is_completed, text};
use crate::{
    api::jobs::{GetJob, ListJobs},
    failure::{Code, Failure},
    listing::{self, AT_ONCE, Page},
    local::Counter,
    operation::{Fields, Operation as _},
};

/// So many jobs are read one by one: their answers are far shorter than a page.
const FEW: usize = 2;

/// Most pages that are looked through for jobs of which nothing narrows the list.
const MOST_PAGES: u64 = 3;

/// Jobs and what was last seen of them.
#[derive(Debug)]
pub(super) struct Jobs {
    /// As asked, each once.
    ids: Vec<String>,
    /// By id in lower case: ids are UUIDs.
    records: BTreeMap<String, Value>,
    /// Whether a list has shown more jobs than it took requests.
    lists_help: bool,
}

impl Jobs {
    pub(super) fn new(ids: Vec<String>) -> Self {
        let mut jobs = Self { ids: Vec::new(), records: BTreeMap::new(), lists_help: true };
        jobs.replace(ids);
        jobs
    }

    /// Takes other jobs in place of those so far. What was seen is kept.
    pub(super) fn replace(&mut self, ids: Vec<String>) {
        self.ids.clear();
        for id in ids {
            if !self.ids.iter().any(|known| known.eq_ignore_ascii_case(&id)) {
                self.ids.push(id);
            }
        }
    }

    /// Forgets some jobs.
    pub(super) fn leave_out(&mut self, ids: &[(String, Failure)]) {
        self.ids.retain(|known| !ids.iter().any(|(id, _)| known.eq_ignore_ascii_case(id)));
    }

    /// The jobs in the order in which they were asked for.
    pub(super) fn items(&self) -> Vec<Item> {
        let item = |id: &String| match self.record(id) {
            Some(record) => Item::of_job(record),
            None => Item::unknown(Some(id), None),
        };
        self.ids.iter().map(item).collect()
    }

    /// The record of the only job.
    pub(super) fn only(&self) -> Option<&Value> {
        if let [id] = self.ids.as_slice() { self.record(id) } else { None }
    }

    fn record(&self, id: &str) -> Option<&Value> {
        self.records.get(&id.to_ascii_lowercase())
    }

    /// Looks at every job that is not over. What was seen before a failure is kept.
    pub(super) async fn look(&mut self, counter: &mut Counter) -> Result<(), Failure> {
        let is_first_look = self.records.is_empty();
        let first = self.ids.first().filter(|_| is_first_look).map(|id| id.to_ascii_lowercase());
        if let Some(first) = &first {
            // It tells the project, and what the others may have in common with it.
            let reply = counter.ask(GetJob::NAME, of_job(first)).await?;
            if counter.project.is_none() {
                counter.project = reply.project().map(str::to_owned);
            }
            self.records.insert(first.clone(), reply.value().clone());
        }
        let mut missing = self.not_over();
        missing.retain(|id| Some(id) != first.as_ref());
        for (filter, members) in self.groups(&missing) {
            if members.len() > FEW && self.lists_help {
                let found = self.list(counter, &filter, members).await?;
                missing.retain(|id| !found.contains(id));
            }
        }
        self.read(counter, missing).await
    }

    /// Ids in lower case of the jobs that are not known to be over.
    fn not_over(&self) -> Vec<String> {
        let is_over = |id: &str| is_completed(self.record(id).and_then(|job| text(job, "status")).as_deref());
        self.ids.iter().filter(|id| !is_over(id)).map(|id| id.to_ascii_lowercase()).collect()
    }

    /// Jobs that one list may show, with what narrows the list to them. A job that was not seen yet is looked for where
    /// the first one was found.
    fn groups(&self, ids: &[String]) -> Vec<(Fields, Vec<String>)> {
        let execution = |id: &str| self.record(id).map(|job| text(job, "test_plan_execution_id"));
        let likely = self.ids.first().and_then(|first| execution(first)).flatten();
        let mut groups: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
        for id in ids {
            groups.entry(execution(id).unwrap_or_else(|| likely.clone())).or_default().push(id.clone());
        }
        let filter = |(execution, members): (Option<String>, Vec<String>)| {
            let mut filter = self.in_common(&members);
            filter.extend(execution.map(|id| ("test_plan_execution_id".to_owned(), json!(id))));
            (filter, members)
        };
        groups.into_iter().map(filter).collect()
    }

    /// Test and tags that all these jobs have.
    fn in_common(&self, ids: &[String]) -> Fields {
        let known: Vec<_> = ids.iter().filter_map(|id| self.record(id)).collect();
        let mut filter = Fields::new();
        let Some((first, rest)) = known.split_first().filter(|_| known.len() == ids.len()) else {
            return filter;
        };
        let test = text(first, "multiplayer_test_id");
        if let Some(test) =
            test.filter(|test| rest.iter().all(|job| text(job, "multiplayer_test_id").as_ref() == Some(test)))
        {
            filter.insert("multiplayer_test_id".to_owned(), json!(test));
        }
        let tags = |job: &Value| job.get("tags").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut common = tags(first);
        // Tags travel separated by commas.
        common.retain(|tag| tag.as_str().is_some_and(|tag| !tag.is_empty() && !tag.contains(',')));
        common.retain(|tag| rest.iter().all(|job| tags(job).contains(tag)));
        if !common.is_empty() {
            filter.insert("tags".to_owned(), Value::Array(common));
        }
        filter
    }

    /// Looks for jobs page by page; gives the ids of those that were found.
    async fn list(
        &mut self,
        counter: &Counter,
        filter: &Fields,
        mut wanted: Vec<String>,
    ) -> Result<Vec<String>, Failure> {
        let (mut found, mut requests) = (Vec::new(), 0);
        for page in 0..MOST_PAGES {
            requests += 1;
            let shown = match page_of(counter, filter, page).await {
                Ok(shown) => shown,
                // They can be read one by one.
                Err(failure) if is_no_list(failure.code) || failure.code == Code::BadResponse => break,
                Err(failure) => return Err(failure),
            };
            let (before, is_last) = (found.len(), shown.is_last(page));
            for job in shown.records {
                let Some(id) = text(&job, "job_id").map(|id| id.to_ascii_lowercase()) else { continue };
                if let Some(position) = wanted.iter().position(|wanted| *wanted == id) {
                    found.push(wanted.swap_remove(position));
                    self.records.insert(id, job);
                }
            }
            if is_last || wanted.is_empty() || found.len() == before {
                break;
            }
        }
        self.lists_help = found.len() > requests;
        Ok(found)
    }

    /// Reads every job that is not over by itself; gives the ids of those where that failed.
    pub(super) async fn read_each(&mut self, counter: &Counter) -> Vec<(String, Failure)> {
        self.tried(counter, self.not_over()).await
    }

    /// Reads jobs one by one. The first failure counts, after all have been tried.
    async fn read(&mut self, counter: &Counter, ids: Vec<String>) -> Result<(), Failure> {
        let failure = self.tried(counter, ids).await.into_iter().next();
        failure.map_or(Ok(()), |(id, failure)| Err(failure.detail("job_id", id)))
    }

    async fn tried(&mut self, counter: &Counter, ids: Vec<String>) -> Vec<(String, Failure)> {
        let reading = |id: String| async move {
            let read = counter.ask(GetJob::NAME, of_job(&id)).await;
            (id, read)
        };
        let answers: Vec<_> = stream::iter(ids).map(reading).buffered(AT_ONCE).collect().await;
        let mut failed = Vec::new();
        for (id, answer) in answers {
            match answer {
                Ok(reply) => drop(self.records.insert(id, reply.value().clone())),
                Err(failure) => failed.push((id, failure)),
            }
        }
        failed
    }
}

/// The jobs of an execution, in a fixed order, and whether there are more; `None` where the service cannot list them.
pub(super) async fn of_execution(
    counter: &Counter,
    execution: &str,
) -> Result<Option<(Vec<Value>, bool)>, Failure> {
    let filter = Fields::from_iter([("test_plan_execution_id".to_owned(), json!(execution))]);
    let listed = match listing::all(|page| page_of(counter, &filter, page)).await {
        Ok(listed) => listed,
        Err(failure) if is_no_list(failure.code) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    if let Some((_, failure)) = listed.lost.into_iter().next() {
        return Err(failure);
    }
    let mut all = listing::each_once(listed.records, "job_id");
    all.sort_by_cached_key(|job| ["created_at", "test_name", "job_id"].map(|name| text(job, name)));
    Ok(Some((all, listed.is_longer)))
}

/// A page of the list.
async fn page_of(counter: &Counter, filter: &Fields, page: u64) -> Result<Page, Failure> {
    let reply = counter.ask(ListJobs::NAME, listing::page_arguments(filter, page)).await?;
    Page::of(ListJobs::NAME, reply.into_value())
}

/// Whether it means that the service does not have this list.
fn is_no_list(code: Code) -> bool {
    matches!(code, Code::NotFound | Code::Rejected | Code::InvalidArguments)
}

fn of_job(id: &str) -> Fields {
    Fields::from_iter([("job_id".to_owned(), json!(id))])
}
