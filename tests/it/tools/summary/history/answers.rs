//! The answers of a service with invented records, and a server that gives them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{History, Test};
use crate::{
    support::stub::Stub,
    tools::summary::{TOOL, fixture},
};

impl History {
    /// Returns the answer to `GET target`.
    pub(in crate::tools::summary) fn answer(&self, target: &str) -> (u16, Value) {
        let (path, query) = target.trim_start_matches("GET ").split_once('?').unwrap_or((target, ""));
        let path = path.trim_start_matches("GET ");
        let parameter = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        let filtered = |list: Vec<&Value>, filters: &[(&str, &str)]| {
            let fits = |record: &&Value| {
                filters.iter().all(|(query, field)| {
                    parameter(query)
                        .is_none_or(|value| record.pointer(field).and_then(Value::as_str) == Some(value))
                })
            };
            let found: Vec<_> = list.into_iter().filter(fits).collect();
            Some(page(&found, parameter("page").and_then(|page| page.parse().ok()).unwrap_or(0)))
        };

        let with_id = |list: &[Value], name: &str, id: &str| list.iter().find(|one| one[name] == id).cloned();
        let parts: Vec<_> = path.split('/').skip(1).collect();
        let found = match parts.as_slice() {
            ["test-plan-executions"] => {
                let newest_first = self.executions.iter().rev().collect();
                filtered(newest_first, &[("test_plan_id", "/test_plan_id"), ("status", "/status")])
            }
            ["test-plan-executions", id] => with_id(&self.executions, "id", id),
            ["jobs"] => filtered(
                self.jobs.iter().collect(),
                &[
                    ("test_plan_execution_id", "/test_plan_execution_id"),
                    ("multiplayer_test_id", "/multiplayer_test_id"),
                ],
            ),
            ["jobs", id] => with_id(&self.jobs, "job_id", id),
            ["runs"] => filtered(self.runs.values().collect(), &[("multiplayer_test_id", "/test/id")]),
            ["runs", id] => self.runs.get(*id).cloned(),
            ["runs", id, "bugs"] => self.bugs.get(*id).cloned(),
            _ => None,
        };

        found.map_or_else(|| (404, json!({"error": "not found"})), |found| (200, found))
    }

    /// Starts a service with these records.
    pub(in crate::tools::summary) async fn serve(self) -> Stub {
        let history = Arc::new(self);
        Stub::start(move |target| {
            let history = Arc::clone(&history);
            async move { history.answer(&target) }
        })
        .await
    }

    /// Starts a service with these records. Requests of `held` wait until eight of them have arrived.
    pub(in crate::tools::summary) async fn serve_together(
        self,
        held: fn(&str) -> bool,
    ) -> (Stub, Arc<AtomicUsize>) {
        let (history, maximum) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        let (in_flight, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let seen = Arc::clone(&maximum);
        let stub = Stub::start(move |target| {
            let (history, seen) = (Arc::clone(&history), Arc::clone(&seen));
            let (in_flight, gate) = (Arc::clone(&in_flight), Arc::clone(&gate));
            async move {
                let now = in_flight.fetch_add(1, Ordering::SeqCst) + 1;
                seen.fetch_max(now, Ordering::SeqCst);
                if now == 8 {
                    // The gate stays open, because the last requests are fewer than eight.
                    gate.add_permits(1_000);
                }
                if held(&target) {
                    drop(gate.acquire().await);
                }
                // More than eight concurrent requests are detected here.
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                in_flight.fetch_sub(1, Ordering::SeqCst);
                history.answer(&target)
            }
        });

        (stub.await, maximum)
    }

    /// Returns the summary of a server in front of a service with these records.
    pub(in crate::tools::summary) async fn summary(self, arguments: Value) -> Value {
        let mut session = fixture().open_with(self.serve().await).await;
        session.host.succeed(TOOL, arguments).await
    }
}

/// Returns a page of 100 records at most.
pub(super) fn page(records: &[&Value], page: usize) -> Value {
    let data: Vec<_> = records.iter().skip(page * 100).take(100).collect();
    let pages = records.len().div_ceil(100);
    json!({
        "data": data,
        "pagination": {"page": page, "page_size": 100, "total_count": records.len(), "total_pages": pages},
    })
}

pub(super) fn player(test: &Test, run: &str, state: &str, result: Option<&String>) -> Value {
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
    let artifact = |name: &String| {
        let uploaded_at = "2026-03-01T09:00:00+00:00";
        json!({"filename": name, "url": "https://files.example/x", "size": 1, "uploaded_at": uploaded_at})
    };

    json!({
        "id": format!("{run}-1"), "state": state, "result": result, "player_number": 1, "test_name": test.name,
        "composite_test_id": "c", "step_count": 2, "completed_step_count": 1, "step_result_summary": {},
        "platform": {"type": "android", "device": "Pixel 8"},
        "artifacts": test.artifacts.iter().map(artifact).collect::<Vec<_>>(),
        "steps": [step(1, result.map(|_| "SUCCESS"), "Fine."), step(2, result, &test.report)],
    })
}

pub(super) fn bug_record([id, title, severity]: &[String; 3]) -> Value {
    json!({
        "id": format!("occurrence of {id}"), "bug_id": id, "title": title, "description": "", "category": "ui",
        "severity": severity, "confidence": "high", "reproduction_steps": "", "player_number": 0, "test_step": 2,
        "turn": 3, "detected_at": "2026-03-01T08:30:00+00:00", "details": {},
    })
}
