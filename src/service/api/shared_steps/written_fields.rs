//! The known fields of the objects that callers write. The objects are sent unchanged.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::service::api::{Open, step_body::ExpectedResult};

// The known fields of a step in a request.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct NewStepBody {
    goal: Option<String>,
    expected_results: Option<Vec<ExpectedResult>>,
    // An older form of the expected results (supplement 6.2).
    #[schemars(extend("x-or-type" = "null"))]
    finish_condition: Option<String>,
    screenshots: Option<i64>,
    pause_game: Option<bool>,
    performance_monitoring: Option<bool>,
    hint_manual: Option<Vec<String>>,
}

// The known fields of a patch.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the patch itself is merged as JSON")]
pub(super) struct SharedStepPatch {
    name: Option<String>,
    #[schemars(with = "Option<BTreeMap<String, PartialStep>>")]
    steps_by_key: Option<BTreeMap<String, Option<Open>>>,
    step_order: Option<Vec<String>>,
}

// A part of a step body, or null, whose effect on the key is uncertain (supplement 17).
#[derive(Debug, JsonSchema)]
#[schemars(extend("x-or-type" = "null"))]
struct PartialStep {}
