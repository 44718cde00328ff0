//! Polling many jobs with few requests: one page of the list shows a hundred jobs.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::{
    item::ResultItem,
    job_list::list_page,
    record::{array_field, is_completed, string_field},
};
use crate::{
    call::paging::{MAX_CONCURRENT_REQUESTS, is_list_missing},
    failure::{Code, Failure},
    fields::Fields,
    service::result_kind::{ResultId, ResultKind},
    tools::project_client::ProjectClient,
};

/// Up to this many jobs are read individually, because a single record is much smaller than a page of the list.
const SINGLE_READ_LIMIT: usize = 2;

/// Most pages of a list that are searched for jobs.
const MAX_SEARCHED_PAGES: u64 = 3;

/// Fields of a job that filter the list of jobs.
const EXECUTION: &str = ResultKind::Execution.argument();
const TEST: &str = "multiplayer_test_id";
const TAGS: &str = "tags";

/// Jobs with their last known records.
#[derive(Debug)]
pub(super) struct JobPoller {
    /// The ids in the order of the request, each once.
    ids: Vec<String>,
    /// The records by id in lower case: ids are UUIDs.
    records: BTreeMap<String, Value>,
    /// Filters whose lists contained at most one wanted job per request. Reading these jobs individually is not slower.
    unproductive_filters: Vec<Fields>,
}

impl JobPoller {
    /// Creates a poller for the jobs with the ids `ids`.
    pub(super) fn new(ids: Vec<String>) -> Self {
        let mut poller = Self { ids: Vec::new(), records: BTreeMap::new(), unproductive_filters: Vec::new() };
        poller.set_ids(ids);
        poller
    }

    /// Replaces the ids. Records that have been read are kept.
    pub(super) fn set_ids(&mut self, ids: Vec<String>) {
        self.ids.clear();
        for id in ids {
            if !self.ids.iter().any(|known| known.eq_ignore_ascii_case(&id)) {
                self.ids.push(id);
            }
        }
    }

    /// Removes the jobs that failed.
    pub(super) fn remove(&mut self, failed: &[(String, Failure)]) {
        self.ids.retain(|known| !failed.iter().any(|(id, _)| known.eq_ignore_ascii_case(id)));
    }

    /// Returns the jobs in the order of the request.
    pub(super) fn items(&self) -> Vec<ResultItem> {
        let item = |id: &String| match self.record(id) {
            Some(record) => ResultItem::from_job(record),
            None => ResultItem::unread_job(id),
        };
        self.ids.iter().map(item).collect()
    }

    /// Returns the record if there is exactly one job.
    pub(super) fn single_record(&self) -> Option<&Value> {
        if let [id] = self.ids.as_slice() { self.record(id) } else { None }
    }

    fn record(&self, id: &str) -> Option<&Value> {
        self.records.get(&id.to_ascii_lowercase())
    }

    /// Reads every job that is not finished: first with the list, then the remaining ones individually. Records that were
    /// read before a failure are kept.
    ///
    /// # Errors
    /// Failures of the list, or the first failure of the individual reads.
    pub(super) async fn poll_once(&mut self, client: &mut ProjectClient) -> Result<(), Failure> {
        // Before the first poll nothing is known about the jobs. Later their records show which filters select
        // them.
        let is_first_poll = self.records.is_empty();
        let first = self.ids.first().filter(|_| is_first_poll).map(|id| id.to_ascii_lowercase());
        let mut missing = self.unfinished_ids();

        if let Some(first) = &first {
            self.read_first(client, first).await?;
            missing.retain(|id| id != first);
            for filter in self.likely_filters(first) {
                self.search_list(client, &filter, missing.clone(), &mut missing).await?;
            }
        } else {
            for (filter, members) in self.filter_groups(&missing) {
                self.search_list(client, &filter, members, &mut missing).await?;
            }
        }

        let failed = self.read_jobs(client, missing).await;

        failed.into_iter().next().map_or(Ok(()), |(id, failure)| Err(failure.detail("job_id", id)))
    }

    /// Reads the first job. Its answer decides the project, and its record shows what the other jobs may have in common.
    async fn read_first(&mut self, client: &mut ProjectClient, id: &str) -> Result<(), Failure> {
        let outcome = client.read_result(&ResultId::new(ResultKind::Job, id)).await;
        let reply = outcome.map_err(|failure| failure.detail("job_id", id))?;

        if client.project.is_none() {
            client.project = reply.project().map(str::to_owned);
        }

        self.records.insert(id.to_owned(), reply.into_value());

        Ok(())
    }

    /// Returns the filters that may select the other jobs, when only the record of the first job is known: its execution,
    /// or its test if it has no execution; then no filter at all.
    fn likely_filters(&self, first: &str) -> Vec<Fields> {
        let filter = |name: &str| {
            let value = string_field(self.record(first)?, name)?;
            Some(Fields::from_iter([(name.to_owned(), json!(value))]))
        };
        let narrow = filter(EXECUTION).or_else(|| filter(TEST));

        narrow.into_iter().chain([Fields::new()]).collect()
    }

    /// Searches the list that `filter` selects for the jobs `members`, and removes the jobs found from `missing`. Does
    /// nothing if individual reads are cheaper.
    async fn search_list(
        &mut self,
        client: &ProjectClient,
        filter: &Fields,
        members: Vec<String>,
        missing: &mut Vec<String>,
    ) -> Result<(), Failure> {
        if members.len() > SINGLE_READ_LIMIT && !self.unproductive_filters.contains(filter) {
            let found = self.read_list(client, filter, members).await?;
            missing.retain(|id| !found.contains(id));
        }
        Ok(())
    }

    /// Returns the ids, in lower case, of the jobs that are not known to be finished.
    fn unfinished_ids(&self) -> Vec<String> {
        let is_finished = |id: &str| {
            let status = self.record(id).and_then(|job| string_field(job, "status"));
            is_completed(status.as_deref())
        };
        self.ids.iter().filter(|id| !is_finished(id)).map(|id| id.to_ascii_lowercase()).collect()
    }

    /// Groups jobs so that one filtered list contains each group: the jobs of one execution, or, if the list of the
    /// execution was unproductive, the jobs of one test in it.
    fn filter_groups(&self, ids: &[String]) -> Vec<(Fields, Vec<String>)> {
        let mut groups = Vec::new();
        for members in self.group_by_field(ids, EXECUTION) {
            let filter = self.common_filter(&members);
            if self.unproductive_filters.contains(&filter) {
                let parts = self.group_by_field(&members, TEST).into_iter();
                groups.extend(parts.map(|members| (self.common_filter(&members), members)));
            } else {
                groups.push((filter, members));
            }
        }

        groups
    }

    /// Groups jobs by the value of a field of their records.
    fn group_by_field(&self, ids: &[String], name: &str) -> Vec<Vec<String>> {
        let mut groups: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
        for id in ids {
            let value = self.record(id).and_then(|job| string_field(job, name));
            groups.entry(value).or_default().push(id.clone());
        }
        groups.into_values().collect()
    }

    /// Returns the filter that selects all these jobs: the execution, the test and the tags that they have in common.
    /// Returns the empty filter if a record is unknown.
    fn common_filter(&self, ids: &[String]) -> Fields {
        let mut filter = Fields::new();
        let known: Vec<_> = ids.iter().filter_map(|id| self.record(id)).collect();
        let Some((first, others)) = known.split_first().filter(|_| known.len() == ids.len()) else {
            return filter;
        };

        for name in [EXECUTION, TEST] {
            let Some(value) = string_field(first, name) else { continue };
            if others.iter().all(|job| string_field(job, name).as_ref() == Some(&value)) {
                filter.insert(name.to_owned(), json!(value));
            }
        }

        let mut tags = array_field(first, TAGS).to_vec();
        // A request separates tags by commas, so that a tag with a comma cannot be sent.
        tags.retain(|tag| tag.as_str().is_some_and(|tag| !tag.is_empty() && !tag.contains(',')));
        tags.retain(|tag| others.iter().all(|job| array_field(job, TAGS).contains(tag)));

        if !tags.is_empty() {
            filter.insert(TAGS.to_owned(), Value::Array(tags));
        }

        filter
    }

    /// Searches the pages of a list for the jobs `wanted`. Returns the ids of the jobs found.
    async fn read_list(
        &mut self,
        client: &ProjectClient,
        filter: &Fields,
        mut wanted: Vec<String>,
    ) -> Result<Vec<String>, Failure> {
        let (mut found, mut requests) = (Vec::new(), 0);
        for number in 0..MAX_SEARCHED_PAGES {
            requests += 1;
            let page = match list_page(client, filter, number).await {
                Ok(page) => page,
                // Without a usable list, the jobs are read individually.
                Err(failure) if is_list_missing(failure.code) || failure.code == Code::BadResponse => break,
                Err(failure) => return Err(failure),
            };

            let (found_before, is_last) = (found.len(), page.is_last(number));
            for job in page.records {
                let Some(id) = string_field(&job, "job_id").map(|id| id.to_ascii_lowercase()) else {
                    continue;
                };
                if let Some(position) = wanted.iter().position(|wanted| *wanted == id) {
                    found.push(wanted.swap_remove(position));
                    self.records.insert(id, job);
                }
            }

            // A page without a wanted job suggests that the following pages contain none either.
            if is_last || wanted.is_empty() || found.len() == found_before {
                break;
            }
        }

        if found.len() <= requests {
            self.unproductive_filters.push(filter.clone());
        }

        Ok(found)
    }

    /// Reads every job that is not finished individually. Returns the jobs that failed, each with its failure.
    pub(super) async fn read_unfinished(&mut self, client: &ProjectClient) -> Vec<(String, Failure)> {
        self.read_jobs(client, self.unfinished_ids()).await
    }

    /// Reads the jobs `ids` individually. Returns the jobs that failed, each with its failure.
    async fn read_jobs(&mut self, client: &ProjectClient, ids: Vec<String>) -> Vec<(String, Failure)> {
        let read = |id: String| async move {
            let outcome = client.read_result(&ResultId::new(ResultKind::Job, id.as_str())).await;
            (id, outcome)
        };
        let outcomes: Vec<_> = stream::iter(ids).map(read).buffered(MAX_CONCURRENT_REQUESTS).collect().await;
        let mut failed = Vec::new();

        for (id, outcome) in outcomes {
            match outcome {
                Ok(reply) => drop(self.records.insert(id, reply.into_value())),
                Err(failure) => failed.push((id, failure)),
            }
        }

        failed
    }
}
