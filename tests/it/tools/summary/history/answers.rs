//! The answers of a service with invented records.

use serde_json::{Value, json};

use super::History;

impl History {
    /// Returns the answer to `GET target`.
    pub(in crate::tools::summary) fn answer(&self, target: &str) -> (u16, Value) {
        let (path, query) = target.trim_start_matches("GET ").split_once('?').unwrap_or((target, ""));
        let path = path.trim_start_matches("GET ");
        let parameter = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        let filtered = |list: &[Value], filters: &[(&str, &str)]| {
            let fits = |record: &&Value| {
                filters.iter().all(|(query, field)| {
                    parameter(query)
                        .is_none_or(|value| record.pointer(field).and_then(Value::as_str) == Some(value))
                })
            };
            let found: Vec<_> = list.iter().filter(fits).cloned().collect();
            Some(page(&found, parameter("page").and_then(|page| page.parse().ok()).unwrap_or(0)))
        };

        let with_id = |list: &[Value], name: &str, id: &str| list.iter().find(|one| one[name] == id).cloned();
        let parts: Vec<_> = path.split('/').skip(1).collect();
        let found = match parts.as_slice() {
            ["test-plan-executions"] => {
                let newest_first: Vec<_> = self.executions.iter().rev().cloned().collect();
                filtered(&newest_first, &[("test_plan_id", "/test_plan_id"), ("status", "/status")])
            }
            ["test-plan-executions", id] => with_id(&self.executions, "id", id),
            ["jobs"] => filtered(
                &self.jobs,
                &[
                    ("test_plan_execution_id", "/test_plan_execution_id"),
                    ("multiplayer_test_id", "/multiplayer_test_id"),
                ],
            ),
            ["jobs", id] => with_id(&self.jobs, "job_id", id),
            ["runs"] => {
                let runs: Vec<_> = self.runs.values().cloned().collect();
                filtered(&runs, &[("multiplayer_test_id", "/test/id")])
            }
            ["runs", id] => self.runs.get(*id).cloned(),
            ["runs", id, "bugs"] => self.bugs.get(*id).cloned(),
            _ => None,
        };

        found.map_or_else(|| (404, json!({"error": "not found"})), |found| (200, found))
    }
}

/// Returns a page of 100 records at most.
pub(super) fn page(records: &[Value], page: usize) -> Value {
    let data: Vec<_> = records.iter().skip(page * 100).take(100).collect();
    let pages = records.len().div_ceil(100);
    json!({
        "data": data,
        "pagination": {"page": page, "page_size": 100, "total_count": records.len(), "total_pages": pages},
    })
}
