//! A service with invented records: executions of one plan, with the given tests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::answers::{bug_record, page, player};
use crate::support::contract;

mod answers;

pub(super) const PLAN: &str = "0000000f-0000-4000-8000-000000000000";

/// A test of an execution, with the results of its attempts.
#[derive(Clone)]
pub(super) struct Test {
    pub(super) number: usize,
    pub(super) name: String,
    /// The result of each attempt; empty if nothing was started.
    pub(super) results: Vec<String>,
    pub(super) is_over: bool,
    pub(super) goal: String,
    pub(super) report: String,
    /// Id, title and severity.
    pub(super) bugs: Vec<[String; 3]>,
    pub(super) artifacts: Vec<String>,
}

impl Test {
    pub(super) fn new(number: usize, results: &[&str]) -> Self {
        Self {
            number,
            name: format!("Test {number:03}"),
            results: results.iter().map(|result| (*result).to_owned()).collect(),
            is_over: true,
            goal: "Open the map".to_owned(),
            report: "The map stayed closed.".to_owned(),
            bugs: Vec::new(),
            artifacts: vec!["recording.mp4".to_owned()],
        }
    }

    pub(super) fn reporting(mut self, report: impl Into<String>) -> Self {
        self.report = report.into();
        self
    }

    pub(super) fn with_bug(mut self, id: &str, severity: &str) -> Self {
        self.bugs.push([id, &format!("Title of {id}"), severity].map(str::to_owned));
        self
    }

    pub(super) fn going_on(mut self) -> Self {
        self.is_over = false;
        self
    }
}

/// Returns a UUID that depends only on the numbers.
pub(super) fn uuid(kind: u32, number: usize) -> String {
    format!("{kind:08x}-0000-4000-8000-{number:012x}")
}

/// The records of the service.
#[derive(Clone, Default)]
pub(super) struct History {
    executions: Vec<Value>,
    jobs: Vec<Value>,
    runs: BTreeMap<String, Value>,
    bugs: BTreeMap<String, Value>,
}

impl History {
    /// Creates records with one execution of these tests.
    pub(super) fn new(tests: &[Test]) -> Self {
        let mut history = Self::default();
        history.add(tests);
        history
    }

    /// Adds an execution that is later than the others. Returns its id.
    pub(super) fn add(&mut self, tests: &[Test]) -> String {
        let number = self.executions.len();
        let (id, day) = (uuid(0xe, number), number + 1);
        let build = json!({"id": uuid(0xb, number), "name": format!("build {number}")});

        for test in tests {
            self.add_test(test, &id, day, &build);
        }

        let is_over = tests.iter().all(|test| test.is_over);
        let count = |wanted: &[&str]| {
            let ends = |test: &&Test| test.results.last().is_some_and(|last| wanted.contains(&last.as_str()));
            tests.iter().filter(|test| test.is_over).filter(ends).count()
        };
        self.executions.push(json!({
            "id": id, "test_plan_id": PLAN, "test_plan_name": "Smoke", "build_id": build["id"],
            "build_name": build["name"], "status": if is_over { "completed" } else { "in_progress" },
            "started_at": format!("2026-03-{day:02}T08:00:00+00:00"),
            "completed_at": is_over.then(|| format!("2026-03-{day:02}T09:00:00+00:00")),
            "started_by": null, "total_tests": tests.len(), "duration_ms": is_over.then_some(3_600_000.4),
            "test_status": {
                "passed": count(&["SUCCESS"]), "failed": count(&["FAILED", "ERROR", "TIMEOUT", "BLOCKED"]),
                "skipped": count(&["SKIPPED"]), "stopped": count(&["STOPPED"]), "queued": 0, "running": 0,
            },
        }));

        id
    }

    fn add_test(&mut self, test: &Test, execution: &str, day: usize, build: &Value) {
        let (job, test_id) = (uuid(0x10, self.jobs.len()), uuid(0x7, test.number));
        let last = test.results.len();
        let mut attempts = Vec::new();

        for (attempt, result) in test.results.iter().enumerate() {
            let id = format!("r{:04}a{attempt:05}", self.jobs.len());
            let at = |minute: usize| format!("2026-03-{day:02}T08:{minute:02}:00+00:00");
            let is_over = test.is_over || attempt + 1 < last;
            let state = if is_over { "COMPLETED" } else { "RUNNING" };
            let result = is_over.then_some(result);
            let (started, completed) = (at(attempt * 2), is_over.then(|| at(attempt * 2 + 1)));

            attempts.push(json!({
                "multiplayer_run_id": id, "state": state, "result": result, "started_at": started,
                "completed_at": completed, "players": 1,
            }));
            let run = json!({
                "job_id": job, "multiplayer_run_id": id, "project_id": "demo", "state": state, "result": result,
                "bug_info": {"bug_label": "bugs", "bug_count": test.bugs.len()},
                "test": {"id": test_id, "name": test.name, "type": "verification"}, "build": build,
                "created_at": started, "started_at": started, "completed_at": completed, "duration_ms": 60_000,
                "initiator": {"type": "api", "value": {"key_id": "k"}}, "tags": [],
                "templating_enabled": false, "template_data": null, "players": [player(test, &id, state, result)],
            });

            let bugs = test.bugs.iter().map(bug_record).collect::<Vec<_>>();
            self.bugs.insert(id.clone(), page(&bugs.iter().collect::<Vec<_>>(), 0));
            self.runs.insert(id, run);
        }

        self.jobs.push(json!({
            "job_id": job, "project_id": "demo", "status": if test.is_over { "COMPLETED" } else { "RUNNING" },
            "created_at": format!("2026-03-{day:02}T07:59:00+00:00"),
            "completed_at": test.is_over.then(|| format!("2026-03-{day:02}T09:00:00+00:00")),
            "multiplayer_test_id": test_id, "test_name": test.name, "platform": "android", "build_id": build["id"],
            "test_plan_execution_id": execution, "templating_enabled": false, "template_data": null,
            "queue_rejection_reason": test.results.is_empty().then_some("no_device_available"),
            "stopped_by": null, "tags": [], "retries": {"total": 3, "remaining": 0}, "runs": attempts,
        }));
    }

    /// Returns the same records in another order.
    pub(super) fn shuffled(&self, seed: u64) -> Self {
        let mut other = self.clone();
        let mut random = seed | 1;
        let mut next = || {
            // A linear congruential generator: a seed gives the same order in every run of a test.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 40).expect("24 bits")
        };

        for last in (1..other.jobs.len()).rev() {
            other.jobs.swap(last, next() % (last + 1));
        }

        for job in &mut other.jobs {
            job["runs"].as_array_mut().expect("a list").reverse();
        }

        for bugs in other.bugs.values_mut() {
            bugs["data"].as_array_mut().expect("a list").reverse();
        }

        for run in other.runs.values_mut() {
            run["players"][0]["artifacts"].as_array_mut().expect("a list").reverse();
        }

        other
    }

    /// Changes the answer with the bugs of a run.
    pub(super) fn change_bugs(&mut self, run: &str, change: impl Fn(&mut Value)) {
        change(self.bugs.get_mut(run).expect("a run of the history"));
    }

    /// Changes a run.
    pub(super) fn change(&mut self, run: &str, change: impl Fn(&mut Value)) {
        change(self.runs.get_mut(run).expect("a run of the history"));
    }

    /// Changes an execution.
    pub(super) fn change_execution(&mut self, number: usize, change: impl Fn(&mut Value)) {
        change(self.executions.get_mut(number).expect("an execution of the history"));
    }

    /// Removes the first jobs of the list.
    pub(super) fn forget_jobs(&mut self, count: usize) {
        self.jobs.drain(..count);
    }

    /// Changes a job.
    pub(super) fn change_job(&mut self, number: usize, change: impl Fn(&mut Value)) {
        change(self.jobs.get_mut(number).expect("a job of the history"));
    }

    /// Changes the jobs.
    pub(super) fn change_jobs(&mut self, change: impl Fn(&mut Value)) {
        self.jobs.iter_mut().for_each(change);
    }
}

#[test]
fn the_invented_records_conform_to_the_contract() {
    let tests = [
        Test::new(1, &["TIMEOUT", "FAILED"]).with_bug("bug_1", "high"),
        Test::new(2, &["SUCCESS"]),
        Test::new(3, &[]),
        Test::new(4, &["ERROR", "ERROR"]).going_on(),
    ];

    let history = History::new(&tests);
    let (first, job, run) = (uuid(0xe, 0), uuid(0x10, 0), "r0000a00001");

    for path in [
        "/test-plan-executions".to_owned(),
        format!("/test-plan-executions/{first}"),
        "/jobs?page=0".to_owned(),
        format!("/jobs/{job}"),
        "/runs".to_owned(),
        format!("/runs/{run}"),
        format!("/runs/{run}/bugs"),
    ] {
        let (status, body) = history.answer(&path);
        assert_eq!(status, 200, "{path}");
        let path = format!("/api/v1{path}");
        let body = body.to_string();
        let broken = contract::violations("GET", &path, 200, Some("application/json"), body.as_bytes());
        assert_eq!(broken, [""; 0]);
    }
}
