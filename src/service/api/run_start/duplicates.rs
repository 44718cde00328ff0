//! How to find out whether an earlier start of a test plan took effect.

use crate::service::{
    api::executions::ListTestPlanExecutions,
    operation::{DuplicateCheck, FieldMatch, ListProbe, Operation as _, Probe},
};

/// Advice for a run that an earlier call started.
pub(in crate::service::api) const WAIT: &str = "wait for the existing run with `wait_for_completion`";

/// Search for the execution that a start of a plan creates.
pub(in crate::service::api) const EXECUTIONS: DuplicateCheck = DuplicateCheck {
    when_given: None,
    probe: Probe::List(ListProbe {
        list: ListTestPlanExecutions::NAME,
        filters: &["test_plan_id"],
        newest_first: &[("sort_by", "start_time"), ("sort_order", "desc")],
        matches: &[FieldMatch::new("build_id", "build_id")],
        created_at: Some("started_at"),
        shown_fields: &["id", "test_plan_name", "status", "started_at"],
    }),
    advice: WAIT,
};
