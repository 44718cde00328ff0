//! The known fields of the objects that callers write. The objects are sent unchanged.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::service::api::Open;

// The known fields of a new test. The shape of players depends on the kind of test, so that players are open.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the test itself is read as JSON")]
pub(super) struct NewTest {
    name: String,
    id: Option<String>,
    #[serde(flatten)]
    known: KnownTestFields,
}

// The known fields of a patch.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the patch itself is merged as JSON")]
pub(super) struct TestPatch {
    name: Option<String>,
    #[serde(flatten)]
    known: KnownTestFields,
}

// The known fields of new tests and of patches.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct KnownTestFields {
    incident_auto_approve: Option<bool>,
    // The time budget is 0 to 19,800 seconds (supplement 6.2).
    #[schemars(range(min = 0, max = 19_800))]
    max_seconds: Option<u32>,
    #[schemars(extend("x-or-type" = "null"))]
    memory: Option<Memory>,
    #[schemars(range(min = 0, max = 19_800))]
    min_seconds: Option<u32>,
    player_order: Option<Vec<String>>,
    players_by_key: Option<BTreeMap<String, Open>>,
    quarantined: Option<bool>,
    source: Option<Source>,
    tags: Option<Vec<String>>,
    test_type: Option<TestType>,
    #[schemars(extend("x-or-type" = "null"))]
    tmsys: Option<Open>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum TestType {
    Verification,
    Discovery,
    Task,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Memory {
    Disabled,
    ReadOnly,
    ReadWrite,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Source {
    Repository,
    Bot,
}
