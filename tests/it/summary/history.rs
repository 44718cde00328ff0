//! A service whose history is made up: executions of one plan, with the tests that a test says.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tas_mcp::{config::Settings, gateway::Gateway, mcp::Server, sandbox::keys, waiting::Clock};
use tokio::sync::Semaphore;

use crate::support::{contract::Contract, host::Host, stub::Stub};

const PLAN: &str = "0000000f-0000-4000-8000-000000000000";

/// A test of an execution, and how its attempts ended.
#[derive(Clone)]
pub(super) struct Test {
    pub(super) number: usize,
    pub(super) name: String,
    /// Of each attempt; none: nothing was started.
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

/// An id of the form that the service gives, the same for the same numbers.
pub(super) fn uuid(kind: u32, number: usize) -> String {
    format!("{kind:08x}-0000-4000-8000-{number:012x}")
}

/// What is known of the service's past.
#[derive(Clone, Default)]
pub(super) struct History {
    executions: Vec<Value>,
    jobs: Vec<Value>,
    runs: BTreeMap<String, Value>,
    bugs: BTreeMap<String, Value>,
}

impl History {
    /// With one execution of these tests.
    pub(super) fn of(tests: &[Test]) -> Self {
        let mut history = Self::default();
        history.add(tests);
        history
    }

    /// Adds an execution, later than those before; its id.
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
            self.bugs.insert(id.clone(), page(&bugs, 0));
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

    /// The same past, told in another order.
    pub(super) fn shuffled(&self, seed: u64) -> Self {
        let mut other = self.clone();
        let mut random = seed | 1;
        let mut next = || {
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

    /// Changes a run.
    pub(super) fn change(&mut self, run: &str, change: impl Fn(&mut Value)) {
        change(self.runs.get_mut(run).expect("a run of the history"));
    }

    /// Changes the jobs.
    pub(super) fn change_jobs(&mut self, change: impl Fn(&mut Value)) {
        self.jobs.iter_mut().for_each(change);
    }

    /// What the service answers to `GET path`.
    pub(super) fn answer(&self, target: &str) -> (u16, Value) {
        let (path, query) = target.trim_start_matches("GET ").split_once('?').unwrap_or((target, ""));
        let path = path.trim_start_matches("GET ");
        let asked = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        let of = |list: &[Value], filters: &[(&str, &str)]| {
            let fits = |record: &&Value| {
                filters.iter().all(|(query, field)| {
                    asked(query)
                        .is_none_or(|asked| record.pointer(field).and_then(Value::as_str) == Some(asked))
                })
            };
            let found: Vec<_> = list.iter().filter(fits).cloned().collect();
            Some(page(&found, asked("page").and_then(|page| page.parse().ok()).unwrap_or(0)))
        };
        let with_id = |list: &[Value], name: &str, id: &str| list.iter().find(|one| one[name] == id).cloned();
        let parts: Vec<_> = path.split('/').skip(1).collect();
        let found = match parts.as_slice() {
            ["test-plan-executions"] => {
                let newest_first: Vec<_> = self.executions.iter().rev().cloned().collect();
                of(&newest_first, &[("test_plan_id", "/test_plan_id"), ("status", "/status")])
            }
            ["test-plan-executions", id] => with_id(&self.executions, "id", id),
            ["jobs"] => of(
                &self.jobs,
                &[
                    ("test_plan_execution_id", "/test_plan_execution_id"),
                    ("multiplayer_test_id", "/multiplayer_test_id"),
                ],
            ),
            ["jobs", id] => with_id(&self.jobs, "job_id", id),
            ["runs"] => {
                let runs: Vec<_> = self.runs.values().cloned().collect();
                of(&runs, &[("multiplayer_test_id", "/test/id")])
            }
            ["runs", id] => self.runs.get(*id).cloned(),
            ["runs", id, "bugs"] => self.bugs.get(*id).cloned(),
            _ => None,
        };
        found.map_or_else(|| (404, json!({"error": "not found"})), |found| (200, found))
    }

    /// A service with this past.
    pub(super) async fn serve(self) -> Stub {
        let history = Arc::new(self);
        Stub::start(move |target| {
            let history = Arc::clone(&history);
            async move { history.answer(&target) }
        })
        .await
    }

    /// The same, where requests of `held` wait until eight of them are there.
    pub(super) async fn serve_together(self, held: fn(&str) -> bool) -> (Stub, Arc<AtomicUsize>) {
        let (history, most) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        let (under_way, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let seen = Arc::clone(&most);
        let stub = Stub::start(move |target| {
            let (history, seen) = (Arc::clone(&history), Arc::clone(&seen));
            let (under_way, gate) = (Arc::clone(&under_way), Arc::clone(&gate));
            async move {
                let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                seen.fetch_max(now, Ordering::SeqCst);
                if now == 8 {
                    // The gate stays open: the last are fewer than eight.
                    gate.add_permits(1_000);
                }
                if held(&target) {
                    drop(gate.acquire().await);
                }
                // Whoever asks for more than eight at once is seen now.
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                under_way.fetch_sub(1, Ordering::SeqCst);
                history.answer(&target)
            }
        });
        (stub.await, most)
    }

    /// The summary that a server in front of it gives.
    pub(super) async fn summary(self, arguments: Value) -> Value {
        let stub = self.serve().await;
        host(&stub).await.succeed(super::TOOL, arguments).await
    }
}

/// A server in front of a made-up service.
pub(super) async fn host(stub: &Stub) -> Host {
    patient(&stub.settings(keys::DEMO, &[])).await
}

/// A server whose time stands still: no call takes too long.
pub(super) async fn patient(settings: &Settings) -> Host {
    let gateway = Gateway::new(settings).with_clock(Arc::new(Still));
    let mut host = Host::to(Server::with(gateway, settings));
    host.initialize("2025-11-25").await;
    host
}

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn pause(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn alarm(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

fn player(test: &Test, run: &str, state: &str, result: Option<&String>) -> Value {
    let step = |number: usize, result: Option<&str>, report: &str| {
        json!({
            "step_number": number, "start_time": null, "end_time": null, "duration_ms": null, "run_state": state,
            "run_result": result, "report": report,
            "items": [{"id": "1a", "expected": "The map is there", "status": "failed", "comment": null}],
            "test": {
                "test_step_id": format!("s{number}"), "goal": test.goal, "finish_condition": null,
                "test_type": "verification",
            },
        })
    };
    let result = result.map(String::as_str);
    let artifact = |name: &String| json!({"filename": name, "url": "https://files.example/x", "size": 1, "uploaded_at": "2026-03-01T09:00:00+00:00"});
    json!({
        "id": format!("{run}-1"), "state": state, "result": result, "player_number": 1, "test_name": test.name,
        "composite_test_id": "c", "step_count": 2, "completed_step_count": 1, "step_result_summary": {},
        "platform": {"type": "android", "device": "Pixel 8"},
        "artifacts": test.artifacts.iter().map(artifact).collect::<Vec<_>>(),
        "steps": [step(1, result.map(|_| "SUCCESS"), "Fine."), step(2, result, &test.report)],
    })
}

fn bug_record([id, title, severity]: &[String; 3]) -> Value {
    json!({
        "id": format!("occurrence of {id}"), "bug_id": id, "title": title, "description": "", "category": "ui",
        "severity": severity, "confidence": "high", "reproduction_steps": "", "player_number": 0, "test_step": 2,
        "turn": 3, "detected_at": "2026-03-01T08:30:00+00:00", "details": {},
    })
}

fn page(records: &[Value], page: usize) -> Value {
    let shown: Vec<_> = records.iter().skip(page * 100).take(100).collect();
    let pages = records.len().div_ceil(100);
    json!({
        "data": shown,
        "pagination": {"page": page, "page_size": 100, "total_count": records.len(), "total_pages": pages},
    })
}

#[test]
fn what_is_made_up_is_of_the_contract() {
    let tests = [
        Test::new(1, &["TIMEOUT", "FAILED"]).with_bug("bug_1", "high"),
        Test::new(2, &["SUCCESS"]),
        Test::new(3, &[]),
        Test::new(4, &["ERROR", "ERROR"]).going_on(),
    ];
    let history = History::of(&tests);
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
        let broken =
            Contract::load().violations("GET", &path, 200, Some("application/json"), body.as_bytes());
        assert_eq!(broken, [""; 0]);
    }
}
