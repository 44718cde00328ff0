//! Export to the test-management system (service.md 2.7).

use super::prelude::*;

/// Exports the results of runs or a plan execution to the external test-management system.
///
/// Pass exactly one of the three ids. Only completed runs are exported. Check `success` in the reply; the export is new unless
/// `already_exported` is true.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ExportTmsysRun {
    /// Not a job or player id[[; from `tool:list_runs`]].
    pub multiplayer_run_id: Option<Id>,
    /// [[From `tool:list_runs`; ]]1-100 different ids of one project.
    #[schemars(length(min = 1, max = 100), extend("uniqueItems" = true))]
    pub multiplayer_run_ids: Option<Vec<Id>>,
    /// From `tool:list_test_plan_executions/summarize_results`.
    pub test_plan_execution_id: Option<Uuid>,
    /// 1-250 characters without outer white space, which is removed; default: generated.
    pub custom_run_name: Option<String>,
    /// Default true: a new entry on every call. False, for an execution: returns the existing export, or makes the first.
    pub force_new_run: Option<bool>,
    /// Closes the remote entry afterwards; default true.
    pub close_run_on_completion: Option<bool>,
}

impl Operation for ExportTmsysRun {
    const TOOL: ToolInfo = ToolInfo::creates(
        "export_tmsys_run",
        "Export to the test-management system",
        Toolset::Exports,
    )
    .needs("project:operate-runs")
    .needs_feature("`tool:summarize_results` shows the results without it")
    .rules(&[
        Rule::ExactlyOne(&["multiplayer_run_id", "multiplayer_run_ids", "test_plan_execution_id"]),
        Rule::Custom(check_name),
    ])
    .requires_fields(&["success"])
    .conflict_hint(
        "another export of this plan is running: do not repeat the call, tell the person, and call later with \
         `argument:force_new_run: false`, which returns an existing entry",
    )
    .recovery_hint(
        "repeat the export of an execution with `argument:force_new_run: false`, which returns an existing entry; for runs \
         check the test-management system before another call",
    );
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/runs/export/{tmsys}")
        .denies_unknown_fields()
        // With `force_new_run: false` the service returns the existing export of an execution (service.md 2.7).
        .repeatable_if(|arguments| {
            arguments.contains_key("test_plan_execution_id")
                && arguments.get("force_new_run") == Some(&Value::Bool(false))
        });
    type Answer = ExportResult;
}

/// Longest name of a remote entry, in characters after trimming (service.md 2.7).
const MAX_NAME_LENGTH: usize = 250;

fn check_name(arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(Value::String(name)) = arguments.get("custom_run_name") else { return };
    let length = name.trim().chars().count();

    if length == 0 || length > MAX_NAME_LENGTH {
        let rule = format!("must have 1 to {MAX_NAME_LENGTH} characters after trimming, got {length}");
        violations.push(Violation::new("custom_run_name", rule));
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct ExportResult {
    /// Whether the export succeeded. The status 200 does not imply success.
    pub success: bool,
    /// `single_run`, `test_plan` or `multiple_runs`.
    pub export_type: String,
    pub export_trigger: String,
    /// `single_suite` (run form) or `multi_suite_plan` (plan form).
    pub export_strategy: String,
    /// Empty if `already_exported` is true.
    pub runs_processed: Vec<String>,
    // Any number is accepted (service.md 2.7).
    #[schemars(with = "f64")]
    pub total_test_cases: u32,
    pub already_exported: Option<bool>,
    #[schemars(extend("type" = ["number", "string", "null"]))]
    pub tmsys_run_id: Option<u64>,
    pub tmsys_run_url: Option<String>,
    pub tmsys_run_name: Option<String>,
    #[schemars(extend("type" = ["number", "string", "null"]))]
    pub tmsys_plan_id: Option<u64>,
    pub tmsys_plan_url: Option<String>,
    pub tmsys_plan_name: Option<String>,
    #[schemars(with = "Option<f64>")]
    pub export_duration_ms: Option<u32>,
    /// Remote case ids.
    #[schemars(extend("items" = {"type": ["number", "string"]}))]
    pub skipped_cases: Option<Vec<u64>>,
    pub warnings: Option<Vec<ExportWarning>>,
    pub error: Option<String>,
    pub error_code: Option<String>,
}

/// A partial problem of an export.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct ExportWarning {
    pub r#type: String,
    pub message: String,
    pub run_id: Option<String>,
    pub test_version_id: Option<String>,
    #[schemars(extend("type" = ["string", "object", "null"]))]
    pub details: Option<String>,
}
