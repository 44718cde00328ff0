//! Filters of lists that the service does not have: by time, build, device, plan, verdict and person. All pages of the list
//! are read for them.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, builder::PossibleValuesParser};
use jiff::{
    SignedDuration, Timestamp,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};
use serde_json::{Value, json};

use super::name_resolution::{NameResolver, SHORTEST_BEGINNING, begins};
use crate::{
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            builds::{Build, ListBuilds},
            jobs::{Job, ListJobs, ListTestPlanExecutions, TestPlanExecution},
            runs::{ListRuns, Run},
        },
        catalog::{ListedOperation as _, OperationEntry},
        lenient::view,
        operation::Operation as _,
        record_kind::RecordKind,
    },
    text::composed,
    tools::{
        names::{devices, player_platform},
        newest::NewestRecords,
        unread::Omission,
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

/// The verdicts, and the states of what has none yet. People call SUCCESS passed.
const VERDICTS: &str = "SUCCESS PASSED FAILED SKIPPED BLOCKED TIMEOUT ERROR STOPPED MAX_STEPS no_result no_run QUEUED STARTING INITIALIZING RUNNING COMPLETED";

/// The forms of a time. One without a zone is in UTC.
const FORMS: &str = "must be a span before now such as 90m, 24h or 7d, a day such as 2026-11-20, or a time such as 2026-11-20T18:30 (UTC)";

#[derive(Args)]
pub(super) struct FilterFlags {
    #[arg(long, value_name = "TIME", value_parser = beginning)]
    #[arg(help = "Only those since this time: 24h, 7d, yesterday, 2026-11-20, or a time in UTC")]
    since: Option<Timestamp>,

    #[arg(long, value_name = "TIME", value_parser = end)]
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

    #[arg(long, value_name = "WORD", value_delimiter = ',', value_parser = verdict_value(), ignore_case = true)]
    #[arg(hide_possible_values = true, help = "Only these verdicts or states, such as FAILED,ERROR")]
    verdict: Vec<String>,

    #[arg(long, help = "Only those that have ended and did not pass")]
    failed: bool,

    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    #[arg(help = "Only runs with bugs")]
    pub(super) bugs: Option<bool>,

    #[arg(long, value_name = "TEXT", help = "Only those with this text")]
    search: Option<String>,
}

fn verdict_value() -> PossibleValuesParser {
    PossibleValuesParser::new(VERDICTS.split(' '))
}

/// What the filters compare with.
pub(super) struct Filters<'a> {
    flags: &'a FilterFlags,
    list: &'static str,
    /// The jobs of the plan, if the list does not name plans.
    jobs_of_plan: Option<BTreeSet<String>>,
    /// Names of builds by their ids, if the list names only the ids.
    build_names: BTreeMap<String, String>,
    /// Platform of the device config that is meant.
    platform: Option<String>,
    unread: Vec<Omission>,
}

impl<'a> Filters<'a> {
    pub(super) async fn read(
        flags: &'a FilterFlags,
        list: &'static OperationEntry,
        resolver: NameResolver<'_>,
    ) -> Result<Self, Failure> {
        let mut filters = Self {
            flags,
            list: list.name,
            jobs_of_plan: None,
            build_names: BTreeMap::new(),
            platform: None,
            unread: Vec::new(),
        };

        if let Some(plan) = flags.plan.as_ref().filter(|_| list.name != ListTestPlanExecutions::NAME) {
            let plan = resolver.id(RecordKind::TestPlan, plan).await?;
            filters.jobs_of_plan = Some(filters.read_jobs_of(resolver, &plan).await?);
        }
        if flags.build.is_some() && list.name == ListJobs::NAME {
            let builds = resolver.newest_records(ListBuilds::entry(), Fields::new()).await?;
            let builds = filters.complete(builds).into_iter().map(|build| view::<Build>(&build));
            filters.build_names = builds.map(|build| (build.id, build.name)).collect();
        }
        if let Some(name) = &flags.device {
            filters.platform = read_platform(resolver, name).await;
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

    fn complete(&mut self, records: NewestRecords) -> Vec<Value> {
        self.unread.extend(records.missing.unread);
        records.data
    }

    /// Removes the records that are not wanted, and those above the limit. Returns what a user may have mistyped, because no record
    /// has it.
    pub(super) fn choose(mut self, records: &mut NewestRecords, limit: usize) -> Vec<String> {
        let all = std::mem::take(&mut records.data);
        let mut found: Vec<_> = all.into_iter().map(|record| (self.facts(&record), record)).collect();
        let mut unmatched = Vec::new();

        if let Some(build) = self.flags.build.as_ref().filter(|_| !found.is_empty()) {
            let has_name = |facts: &Facts| has_words(&facts.build_name, build);
            // A shorter text is probably a mistyped name, and not the beginning of an id.
            let has_id = |facts: &Facts| build.len() >= SHORTEST_BEGINNING && begins(&facts.build_id, build);
            if !keep_first(&mut found, [&has_name, &has_id]) {
                unmatched.push(format!("none is of a build `{build}`"));
            }
        }
        if let Some(device) = self.flags.device.as_ref().filter(|_| !found.is_empty()) {
            let has_name = |facts: &Facts| facts.devices.iter().any(|name| has_words(name, device));
            let on_platform =
                |facts: &Facts| facts.platforms.iter().any(|one| Some(one) == self.platform.as_ref());
            if !keep_first(&mut found, [&has_name, &on_platform]) && self.platform.is_none() {
                unmatched.push(format!("none is on a device `{device}`"));
            }
        }

        found.retain(|(facts, _)| self.accepts(facts));
        records.total_count = found.len();
        records.data = found.into_iter().map(|(_, record)| record).take(limit).collect();
        records.missing.unread.append(&mut self.unread);

        unmatched
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

        is_since && is_until && has_verdict && has_text && is_of_plan && (!flags.failed || facts.has_failed)
    }

    fn facts(&self, record: &Value) -> Facts {
        match self.list {
            ListRuns::NAME => Facts::of_run(view(record)),
            ListJobs::NAME => {
                let facts = Facts::of_job(view(record));
                let name = self.build_names.get(&facts.build_id).cloned();
                Facts { build_name: name.unwrap_or_default(), ..facts }
            }
            ListTestPlanExecutions::NAME => Facts::of_execution(view(record)),
            _ => Facts::of_named(record),
        }
    }
}

/// Reads the platform of the device config with this name or id: runs name a device, and not the config by which it was chosen.
/// A key may not be allowed to read configs.
async fn read_platform(resolver: NameResolver<'_>, name: &str) -> Option<String> {
    let device = resolver.record(RecordKind::DeploymentConfig, name).await.ok()?;
    device.more.get("platform")?.as_str().map(str::to_owned)
}

/// Keeps what the first of the tests accepts that accepts anything. Returns whether one does.
fn keep_first(found: &mut Vec<(Facts, Value)>, tests: [&dyn Fn(&Facts) -> bool; 2]) -> bool {
    let test = tests.into_iter().find(|test| found.iter().any(|(facts, _)| test(facts)));
    found.retain(|(facts, _)| test.is_some_and(|test| test(facts)));
    test.is_some()
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
    fn of_named(record: &Value) -> Self {
        let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let names = ["name", "title", "description", "reproduction_steps", "file_name", "folder_path"];
        Self { time: text("created_at"), name: names.map(text).join(" "), ..Self::default() }
    }

    fn of_run(run: Run) -> Self {
        let build = run.head.build.unwrap_or_default();
        let result = run.head.result;

        Self {
            time: run.head.created_at,
            has_failed: result.as_ref().is_some_and(|result| !result.eq_ignore_ascii_case("SUCCESS")),
            verdict: result.unwrap_or(run.head.state),
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
        let counts = execution.test_status;
        let not_passed = counts.failed + counts.skipped + counts.stopped;

        Self {
            time: execution.started_at.unwrap_or_default(),
            has_failed: execution.status.eq_ignore_ascii_case("completed") && not_passed > 0,
            verdict: execution.status,
            build_id: execution.build_id.unwrap_or_default(),
            build_name: execution.build_name.unwrap_or_default(),
            ..Self::default()
        }
    }

    fn has_verdict(&self, word: &str) -> bool {
        let word = if word.eq_ignore_ascii_case("passed") { "SUCCESS" } else { word };
        self.verdict.eq_ignore_ascii_case(word)
    }
}

/// Returns whether a text contains all words of another one, in any case and order.
pub(super) fn has_words(text: &str, words: &str) -> bool {
    let lower = |text: &str| composed(text).to_lowercase();
    let (text, words) = (lower(text), lower(words));
    let mut words = words.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| text.contains(word))
}

/// Parses the beginning of a period. A day begins at midnight.
fn beginning(text: &str) -> Result<Timestamp, String> {
    parse(text, Timestamp::now(), false)
}

/// Parses the end of a period. A day is included as a whole.
fn end(text: &str) -> Result<Timestamp, String> {
    parse(text, Timestamp::now(), true)
}

fn parse(text: &str, now: Timestamp, is_end: bool) -> Result<Timestamp, String> {
    let today = TimeZone::UTC.to_datetime(now).date();
    let day = match text {
        "today" => Some(today),
        "yesterday" => today.yesterday().ok(),
        text => text.parse::<Date>().ok().filter(|_| !text.contains(['T', ' '])),
    };
    if let Some(day) = day {
        let day = if is_end { day.tomorrow().ok() } else { Some(day) };
        let midnight = day.and_then(|day| TimeZone::UTC.to_timestamp(day.to_datetime(Time::midnight())).ok());
        return midnight.ok_or_else(|| FORMS.to_owned());
    }

    let moment = || text.parse::<Timestamp>().ok();
    let local = || TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok();
    let span = || now.checked_sub(span(text)?).ok();
    span().or_else(moment).or_else(local).ok_or_else(|| FORMS.to_owned())
}

fn span(text: &str) -> Option<SignedDuration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let seconds = match unit {
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };

    number.parse::<i64>().ok()?.checked_mul(seconds).map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_span_a_day_or_a_moment() {
        let now = "2026-11-20T18:30:00Z".parse().expect("a time");
        for (text, beginning, end) in [
            ("24h", "2026-11-19T18:30:00Z", "2026-11-19T18:30:00Z"),
            ("90m", "2026-11-20T17:00:00Z", "2026-11-20T17:00:00Z"),
            ("2w", "2026-11-06T18:30:00Z", "2026-11-06T18:30:00Z"),
            ("today", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
            ("yesterday", "2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z"),
            ("2026-11-18", "2026-11-18T00:00:00Z", "2026-11-19T00:00:00Z"),
            ("2026-11-18T06:15", "2026-11-18T06:15:00Z", "2026-11-18T06:15:00Z"),
            ("2026-11-18T06:15:00+02:00", "2026-11-18T04:15:00Z", "2026-11-18T04:15:00Z"),
        ] {
            let parsed = [false, true].map(|is_end| parse(text, now, is_end).map(|time| time.to_string()));
            assert_eq!(parsed, [Ok(beginning.to_owned()), Ok(end.to_owned())], "{text}");
        }

        for text in ["", "24", "h", "last night", "2026-13-01", "99999999999999999999d", "9999999999999d"] {
            assert_eq!(parse(text, now, false), Err(FORMS.to_owned()), "{text}");
        }
    }
}
