//! Filters of lists that the service does not have: by time, build, device, plan, verdict and person. All pages of the list
//! are read for them.

use std::collections::BTreeSet;

use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{name_resolution::NameResolver, time_argument};
use crate::{
    call::paging::Omission,
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            builds::{Build, ListBuilds},
            configs::{DeploymentConfig, ListDeploymentConfigs},
            executions::{ListTestPlanExecutions, TestPlanExecution},
            jobs::{Job, ListJobs},
            runs::{ListRuns, Run},
        },
        catalog::{ListedOperation as _, OperationEntry},
        lenient::view,
        operation::Operation as _,
        record_kind::RecordKind,
    },
    text::composed,
    tools::{
        find::is_named,
        names::{devices, player_platform},
        newest::NewestRecords,
        waiting::ResultItem,
    },
};

/// Flags of the runs. Other lists have a part of them.
pub(super) const OF_RUNS: &[&str] =
    &["since", "until", "build", "device", "plan", "test", "verdict", "failed", "bugs", "watch"];
pub(super) const OF_JOBS: &[&str] =
    &["since", "until", "build", "device", "plan", "test", "verdict", "failed", "watch"];
pub(super) const OF_EXECUTIONS: &[&str] = &["since", "until", "build", "plan", "failed", "watch"];
pub(super) const OF_DATED: &[&str] = &["since", "until", "search"];
pub(super) const OF_NAMED: &[&str] = &["search"];

/// Every flag that only some lists have.
pub(super) const ALL: [&str; 11] =
    ["since", "until", "build", "device", "plan", "test", "verdict", "failed", "bugs", "search", "watch"];

// A doc comment would become the description of the command.
#[derive(Args)]
pub(super) struct FilterFlags {
    #[arg(long, value_name = "TIME", value_parser = time_argument::beginning)]
    #[arg(help = "Only those since this time: 24h, 7d, yesterday, 2026-11-20, or a time in UTC")]
    since: Option<Timestamp>,

    #[arg(long, value_name = "TIME", value_parser = time_argument::end)]
    #[arg(help = "Only those until this time; a day is included")]
    until: Option<Timestamp>,

    #[arg(
        long,
        value_name = "NAME",
        help = "Only those of builds with these words in the name, or with this id"
    )]
    build: Option<String>,

    #[arg(long, value_name = "NAME", help = "Only those on this device or platform")]
    device: Option<String>,

    #[arg(long, value_name = "NAME", help = "Only those of this plan: its name or id")]
    pub(super) plan: Option<String>,

    #[arg(long, value_name = "NAME", help = "Only those of this test: its name or id")]
    pub(super) test: Option<String>,

    #[arg(
        long,
        value_name = "WORD",
        value_delimiter = ',',
        help = "Only these verdicts or states, such as FAILED,ERROR"
    )]
    verdict: Vec<String>,

    #[arg(long, help = "Only those that have ended and did not pass")]
    failed: bool,

    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    #[arg(help = "Only runs with bugs")]
    pub(super) bugs: Option<bool>,

    #[arg(long, value_name = "TEXT", help = "Only those with this text")]
    search: Option<String>,
}

/// What the filters compare with.
pub(super) struct Filters<'a> {
    flags: &'a FilterFlags,
    list: &'static str,
    /// The jobs of the plan, if the list does not name plans.
    jobs_of_plan: Option<BTreeSet<String>>,
    /// The builds that are meant, if the list names only their ids.
    builds: BTreeSet<String>,
    /// Platform of the device config that is meant.
    platform: Option<String>,
    unread: Vec<Omission>,
}

impl<'a> Filters<'a> {
    /// Reads what the flags name.
    ///
    /// # Errors
    /// `invalid_arguments` if a name is unknown.
    pub(super) async fn read(
        flags: &'a FilterFlags,
        list: &'static OperationEntry,
        resolver: NameResolver<'_>,
    ) -> Result<Self, Failure> {
        let mut filters = Self {
            flags,
            list: list.name,
            jobs_of_plan: None,
            builds: BTreeSet::new(),
            platform: None,
            unread: Vec::new(),
        };

        if let Some(plan) = flags.plan.as_ref().filter(|_| list.name != ListTestPlanExecutions::NAME) {
            let plan = resolver.id(RecordKind::TestPlan, plan).await?;
            filters.jobs_of_plan = Some(filters.read_jobs_of(resolver, &plan).await?);
        }
        if let Some(name) = flags.build.as_ref().filter(|_| list.name == ListJobs::NAME) {
            let builds = resolver.newest_records(ListBuilds::entry(), Fields::new()).await?;
            let builds = filters.complete(builds).into_iter().map(|build| view::<Build>(&build));
            filters.builds =
                builds.filter(|build| has_words(&build.name, name)).map(|build| build.id).collect();
        }
        if let Some(name) = &flags.device {
            // Runs name a device, and not the config by which it was chosen. A key may not be allowed to read configs.
            let configs = resolver.newest_records(ListDeploymentConfigs::entry(), Fields::new()).await;
            let configs = configs.map(|configs| configs.data).unwrap_or_default();
            let config = configs.iter().find(|config| is_named(RecordKind::DeploymentConfig, config, name));
            filters.platform = config.and_then(|config| view::<DeploymentConfig>(config).kind);
        }

        Ok(filters)
    }

    async fn read_jobs_of(
        &mut self,
        resolver: NameResolver<'_>,
        plan: &str,
    ) -> Result<BTreeSet<String>, Failure> {
        let of_plan = Fields::from_iter([("test_plan_id".to_owned(), json!(plan))]);
        let executions = resolver.newest_records(ListTestPlanExecutions::entry(), of_plan).await?;
        let jobs = resolver.newest_records(ListJobs::entry(), Fields::new()).await?;

        let executions = self.complete(executions);
        let executions: BTreeSet<_> =
            executions.iter().map(|execution| view::<TestPlanExecution>(execution).id).collect();
        let jobs = self.complete(jobs).into_iter().map(|job| view::<Job>(&job));
        let of_plan =
            jobs.filter(|job| job.test_plan_execution_id.as_ref().is_some_and(|id| executions.contains(id)));

        Ok(of_plan.map(|job| job.job_id).collect())
    }

    /// Returns the records, and remembers what is missing.
    fn complete(&mut self, records: NewestRecords) -> Vec<Value> {
        self.unread.extend(records.unread);
        records.data
    }

    /// Removes the records that are not wanted, and those above the limit. Returns what a user may have mistyped, because no record
    /// has it.
    pub(super) fn choose(mut self, records: &mut NewestRecords, limit: usize) -> Vec<String> {
        let all = std::mem::take(&mut records.data);
        let facts: Vec<_> = all.iter().map(|record| Facts::of(self.list, record)).collect();

        let device = self.flags.device.clone().unwrap_or_default();
        let unmatched = self.unmatched(&facts);
        let names_device = |facts: &Facts| facts.devices.iter().any(|name| has_words(name, &device));
        let by_name = device.is_empty() || self.platform.is_none() || facts.iter().any(&names_device);
        let is_on_device = |facts: &Facts| {
            let on_platform =
                || self.platform.as_ref().is_some_and(|platform| facts.platforms.contains(platform));
            device.is_empty() || if by_name { names_device(facts) } else { on_platform() }
        };

        let wanted = all.into_iter().zip(facts);
        let wanted = wanted.filter(|(_, facts)| is_on_device(facts) && self.accepts(facts));
        records.data = wanted.map(|(record, _)| record).collect();
        records.total_count = records.data.len();
        records.data.truncate(limit);
        records.unread.append(&mut self.unread);

        unmatched
    }

    /// Returns a sentence about each name of the flags that no record has.
    fn unmatched(&self, all: &[Facts]) -> Vec<String> {
        let FilterFlags { build, device, verdict, .. } = self.flags;
        let lacks_build = |_: &&String| !all.iter().any(|facts| self.has_build(facts));
        let lacks_device = |name: &&String| {
            self.platform.is_none()
                && !all.iter().flat_map(|facts| &facts.devices).any(|device| has_words(device, name))
        };
        let lacks_verdict = |word: &&String| !all.iter().any(|facts| facts.has_verdict(word));
        let verdicts: BTreeSet<_> = all.iter().map(|facts| facts.verdict.as_str()).collect();
        let verdicts = verdicts.into_iter().collect::<Vec<_>>().join(", ");

        let build = build.iter().filter(lacks_build).map(|name| format!("none is of a build `{name}`"));
        let device = device.iter().filter(lacks_device).map(|name| format!("none is on a device `{name}`"));
        let verdict = verdict.iter().filter(lacks_verdict);
        let verdict = verdict.map(|word| format!("none is {word}: there are {verdicts}"));
        if all.is_empty() { Vec::new() } else { build.chain(device).chain(verdict).collect() }
    }

    fn has_build(&self, facts: &Facts) -> bool {
        self.flags.build.as_ref().is_none_or(|build| {
            has_words(&facts.build_name, build)
                || self.builds.contains(&facts.build_id)
                || facts.build_id.starts_with(&build.to_ascii_lowercase())
        })
    }

    fn accepts(&self, facts: &Facts) -> bool {
        let flags = self.flags;
        let time = || facts.time.parse::<Timestamp>().ok();
        // What has not begun yet is newer than everything else.
        let is_since = flags.since.is_none_or(|since| time().is_none_or(|time| time >= since));
        let is_until = flags.until.is_none_or(|until| time().is_some_and(|time| time < until));
        let has_verdict =
            flags.verdict.is_empty() || flags.verdict.iter().any(|word| facts.has_verdict(word));
        let has_text = flags.search.as_ref().is_none_or(|text| has_words(&facts.name, text));
        let is_of_plan = self.jobs_of_plan.as_ref().is_none_or(|jobs| jobs.contains(&facts.job_id));

        is_since
            && is_until
            && self.has_build(facts)
            && has_verdict
            && has_text
            && is_of_plan
            && (!flags.failed || facts.has_failed)
    }
}

/// What the filters read of a record, whatever its kind.
#[derive(Debug, Default)]
struct Facts {
    time: String,
    /// The verdict, or the state of what has none yet.
    verdict: String,
    has_failed: bool,
    build_id: String,
    build_name: String,
    devices: Vec<String>,
    platforms: Vec<String>,
    job_id: String,
    /// The texts in which a search looks. The service searches in other lists.
    name: String,
}

impl Facts {
    fn of(list: &str, record: &Value) -> Self {
        match list {
            ListRuns::NAME => Self::of_run(view(record)),
            ListJobs::NAME => Self::of_job(view(record)),
            ListTestPlanExecutions::NAME => Self::of_execution(view(record)),
            _ => {
                let text =
                    |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
                let names =
                    ["name", "title", "description", "reproduction_steps", "file_name", "folder_path"];
                Self { time: text("created_at"), name: names.map(text).join(" "), ..Self::default() }
            }
        }
    }

    fn of_run(run: Run) -> Self {
        let build = run.head.build.unwrap_or_default();
        let has_failed =
            run.head.result.as_ref().is_some_and(|result| !result.eq_ignore_ascii_case("SUCCESS"));

        Self {
            time: run.head.created_at,
            verdict: run.head.result.unwrap_or(run.head.state),
            has_failed,
            build_name: build.name.unwrap_or_default(),
            build_id: build.id,
            devices: devices(&run.players),
            platforms: run.players.iter().map(player_platform).collect(),
            job_id: run.head.job_id,
            name: run.head.test.name,
        }
    }

    fn of_job(job: Job) -> Self {
        let verdict = ResultItem::from_job(&job).verdict();

        Self {
            has_failed: verdict.as_ref().is_some_and(|verdict| verdict != "SUCCESS"),
            time: job.created_at,
            verdict: verdict.unwrap_or(job.status),
            build_id: job.build_id.unwrap_or_default(),
            devices: job.platform.iter().cloned().collect(),
            platforms: job.platform.into_iter().collect(),
            job_id: job.job_id,
            ..Self::default()
        }
    }

    fn of_execution(execution: TestPlanExecution) -> Self {
        Self {
            time: execution.started_at.unwrap_or_default(),
            verdict: execution.status,
            has_failed: execution.test_status.failed > 0,
            build_id: execution.build_id.unwrap_or_default(),
            build_name: execution.build_name.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns whether the verdict is `word`. People call SUCCESS passed.
    fn has_verdict(&self, word: &str) -> bool {
        let word = if word.eq_ignore_ascii_case("passed") { "SUCCESS" } else { word };
        self.verdict.eq_ignore_ascii_case(word.trim())
    }
}

/// Returns whether a text contains all words of another one, in any case and order.
pub(super) fn has_words(text: &str, words: &str) -> bool {
    let lower = |text: &str| composed(text).to_lowercase();
    let (text, words) = (lower(text), lower(words));
    let mut words = words.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_order() {
        for (text, words, expected) in [
            ("Emberfall 1.4.0 nightly 413 (Windows)", "413 NIGHTLY", true),
            ("Emberfall 1.4.0 nightly 413", "windows 413", false),
            ("Emberfall", "", false),
        ] {
            assert_eq!(has_words(text, words), expected, "{text}: {words}");
        }
    }
}
