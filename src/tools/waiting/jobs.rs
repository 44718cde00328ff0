//! Looking at many jobs with few requests: a page of a list shows a hundred of them.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::{
    item::{Item, is_completed, text},
    lists::page_of,
};
use crate::{
    call::paging::{MAX_CONCURRENT_REQUESTS, is_list_missing},
    failure::{Code, Failure},
    fields::Fields,
    service::{api::jobs::GetJob, operation::Operation as _},
    tools::project_client::ProjectClient,
};

/// So many jobs are read one by one: their answers are far shorter than a page.
const FEW: usize = 2;

/// Most pages that are looked through for jobs of which nothing narrows the list.
const MOST_PAGES: u64 = 3;

/// What narrows a list.
const EXECUTION: &str = "test_plan_execution_id";
const TEST: &str = "multiplayer_test_id";

/// Jobs and what was last seen of them.
#[derive(Debug)]
pub(super) struct Jobs {
    /// As asked, each once.
    ids: Vec<String>,
    /// By id in lower case: ids are UUIDs.
    records: BTreeMap<String, Value>,
    /// What narrowed lists that have not shown more jobs than they took requests.
    unhelpful: Vec<Fields>,
}

impl Jobs {
    pub(super) fn new(ids: Vec<String>) -> Self {
        let mut jobs = Self { ids: Vec::new(), records: BTreeMap::new(), unhelpful: Vec::new() };
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
    pub(super) async fn look(&mut self, counter: &mut ProjectClient) -> Result<(), Failure> {
        let is_first_look = self.records.is_empty();
        let first = self.ids.first().filter(|_| is_first_look).map(|id| id.to_ascii_lowercase());
        let mut missing = self.not_over();

        if let Some(first) = &first {
            self.read_first(counter, first).await?;
            missing.retain(|id| id != first);
            for filter in self.likely(first) {
                self.seek(counter, &filter, missing.clone(), &mut missing).await?;
            }
        } else {
            for (filter, members) in self.groups(&missing) {
                self.seek(counter, &filter, members, &mut missing).await?;
            }
        }

        self.read(counter, missing).await
    }

    /// Reads the job that tells the project, and what the others may have in common with it.
    async fn read_first(&mut self, counter: &mut ProjectClient, id: &str) -> Result<(), Failure> {
        let read = counter.ask(GetJob::NAME, of_job(id)).await;
        let reply = read.map_err(|failure| failure.detail("job_id", id))?;

        if counter.project.is_none() {
            counter.project = reply.project().map(str::to_owned);
        }

        self.records.insert(id.to_owned(), reply.value().clone());

        Ok(())
    }

    /// What may narrow a list to jobs of which nothing is known but the first: its execution, else its test; then nothing.
    fn likely(&self, first: &str) -> Vec<Fields> {
        let known = |name: &str| Some((name.to_owned(), json!(text(self.record(first)?, name)?)));
        let narrow = known(EXECUTION).or_else(|| known(TEST));
        narrow.map(|narrow| Fields::from_iter([narrow])).into_iter().chain([Fields::new()]).collect()
    }

    /// Looks for some of the missing jobs in a list, where that may help.
    async fn seek(
        &mut self,
        counter: &ProjectClient,
        filter: &Fields,
        members: Vec<String>,
        missing: &mut Vec<String>,
    ) -> Result<(), Failure> {
        if members.len() > FEW && !self.unhelpful.contains(filter) {
            let found = self.list(counter, filter, members).await?;
            missing.retain(|id| !found.contains(id));
        }
        Ok(())
    }

    /// Ids in lower case of the jobs that are not known to be over.
    fn not_over(&self) -> Vec<String> {
        let is_over = |id: &str| is_completed(self.record(id).and_then(|job| text(job, "status")).as_deref());
        self.ids.iter().filter(|id| !is_over(id)).map(|id| id.to_ascii_lowercase()).collect()
    }

    /// Jobs that one list may show, with what narrows the list to them: those of an execution, or, where their list did
    /// not help, those of a test in it.
    fn groups(&self, ids: &[String]) -> Vec<(Fields, Vec<String>)> {
        let mut groups = Vec::new();
        for members in self.parted(ids, EXECUTION) {
            let whole = self.in_common(&members);
            if self.unhelpful.contains(&whole) {
                let parts = self.parted(&members, TEST).into_iter();
                groups.extend(parts.map(|members| (self.in_common(&members), members)));
            } else {
                groups.push((whole, members));
            }
        }

        groups
    }

    /// The jobs by a field of their records.
    fn parted(&self, ids: &[String], name: &str) -> Vec<Vec<String>> {
        let mut parts: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
        for id in ids {
            let value = self.record(id).and_then(|job| text(job, name));
            parts.entry(value).or_default().push(id.clone());
        }
        parts.into_values().collect()
    }

    /// Execution, test and tags that all these jobs have.
    fn in_common(&self, ids: &[String]) -> Fields {
        let known: Vec<_> = ids.iter().filter_map(|id| self.record(id)).collect();
        let mut filter = Fields::new();
        let Some((first, rest)) = known.split_first().filter(|_| known.len() == ids.len()) else {
            return filter;
        };

        for name in [EXECUTION, TEST] {
            let value = text(first, name);
            if let Some(value) =
                value.filter(|value| rest.iter().all(|job| text(job, name).as_ref() == Some(value)))
            {
                filter.insert(name.to_owned(), json!(value));
            }
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
        counter: &ProjectClient,
        filter: &Fields,
        mut wanted: Vec<String>,
    ) -> Result<Vec<String>, Failure> {
        let (mut found, mut requests) = (Vec::new(), 0);
        for page in 0..MOST_PAGES {
            requests += 1;
            let shown = match page_of(counter, filter, page).await {
                Ok(shown) => shown,
                // They can be read one by one.
                Err(failure) if is_list_missing(failure.code) || failure.code == Code::BadResponse => break,
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

        if found.len() <= requests {
            self.unhelpful.push(filter.clone());
        }

        Ok(found)
    }

    /// Reads every job that is not over by itself; gives the ids of those where that failed.
    pub(super) async fn read_each(&mut self, counter: &ProjectClient) -> Vec<(String, Failure)> {
        self.tried(counter, self.not_over()).await
    }

    /// Reads jobs one by one. The first failure counts, after all have been tried.
    async fn read(&mut self, counter: &ProjectClient, ids: Vec<String>) -> Result<(), Failure> {
        let failure = self.tried(counter, ids).await.into_iter().next();
        failure.map_or(Ok(()), |(id, failure)| Err(failure.detail("job_id", id)))
    }

    async fn tried(&mut self, counter: &ProjectClient, ids: Vec<String>) -> Vec<(String, Failure)> {
        let reading = |id: String| async move {
            let read = counter.ask(GetJob::NAME, of_job(&id)).await;
            (id, read)
        };
        let answers: Vec<_> =
            stream::iter(ids).map(reading).buffered(MAX_CONCURRENT_REQUESTS).collect().await;
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

fn of_job(id: &str) -> Fields {
    Fields::from_iter([("job_id".to_owned(), json!(id))])
}
