//! The texts of the prompts: the purpose, the calls in their order, and what the person is told at the end.

use serde_json::Value;

use crate::{
    fields::Fields,
    mcp::{
        config::McpConfig,
        skills::{EXPORT_RESULTS, KEEP_FLAKY_TESTS_DOWN, RELEASE_SMOKE, Skill, TRIAGE_RUN, WRITE_A_TEST},
    },
    service::{
        api::{
            bugs::{GetBug, ListRunBugs},
            builds::GetBuild,
            configs::ListDeploymentConfigs,
            executions::ListTestPlanExecutions,
            exports::ExportTmsysRun,
            plans::{GetTestPlan, ListTestPlans, StartTestPlanRun},
            runs::{GetRun, ListRuns, StartRun},
            shared_steps::ListSharedSteps,
            tests::{CreateTest, GetTest, ListTests},
        },
        result_kind::ResultKind,
        tool::PROJECT_ID,
    },
    tools::{
        catalog::{ListedTool, ToolReference},
        composite::{SummarizeResults, WaitForCompletion},
        selection::Selection,
    },
};

pub(super) const RUN: &str = ResultKind::Run.argument();
pub(super) const BUILD: &str = "build_id";
pub(super) const TEST_PLAN: &str = "test_plan_id";
pub(super) const TEST: &str = "test_id";
pub(super) const DEVICE: &str = "deployment_config_id";
pub(super) const COMPARED_WITH: &str = "compare_with";
pub(super) const EXECUTION: &str = ResultKind::Execution.argument();

const JOB: &str = ResultKind::Job.argument();

/// Explains values that are read from the answer of an earlier call.
const LEGEND: &str = "A value in <> comes from the answer of the tool it names. [] means one call for each value. [?] means the \
value that fits; if several fit, ask the person. Skip calls for which there is no value.";

pub(super) fn triage_run(arguments: &Fields, config: &McpConfig) -> String {
    let run = given(arguments, RUN);
    // The bug alone does not decide the project.
    let is_open = config.is_global() && !arguments.contains_key(PROJECT_ID);
    let project = is_open.then(|| answered::<GetRun>("project_id"));

    let mut text = Text::new(TRIAGE_RUN.purpose(), arguments, config);
    text.call(SummarizeResults::tool, [(RUN, run.clone())]);
    text.call(GetRun::tool, [(RUN, run.clone())]);
    text.call(ListRunBugs::tool, [(RUN, run)]);
    let bug = Some(answered::<ListRunBugs>("data[].bug_id"));
    text.call(GetBug::tool, [("bug_id", bug), (PROJECT_ID, project)]);

    text.end_like(&TRIAGE_RUN)
}

pub(super) fn test_this_build(arguments: &Fields, config: &McpConfig) -> String {
    let purpose = "Test this build: start it, wait for the verdicts and report them.";
    start_and_report(purpose, arguments, config, None)
}

pub(super) fn release_smoke(arguments: &Fields, config: &McpConfig) -> String {
    start_and_report(RELEASE_SMOKE.purpose(), arguments, config, Some(constant("previous")))
}

/// Returns the text of a prompt that starts a plan or a test, with a comparison of the results if one is wanted.
fn start_and_report(
    purpose: &str,
    arguments: &Fields,
    config: &McpConfig,
    compared_with: Option<ArgumentValue>,
) -> String {
    let (build, test) = (given(arguments, BUILD), given(arguments, TEST));
    let (mut plan, mut device) = (given(arguments, TEST_PLAN), given(arguments, DEVICE));
    let mut prompt = Text::new(purpose, arguments, config);

    if plan.is_none() && test.is_none() {
        prompt.call(ListTestPlans::tool, []);
        plan = Some(answered::<ListTestPlans>("data[?].id"));
    }

    // Only `start_test_plan_run` takes a device for each slot of a plan.
    let starts_plan = plan.is_some() && config.selection.offers(StartTestPlanRun::tool().info);
    if plan.is_some() {
        prompt.call(GetTestPlan::tool, [(TEST_PLAN, plan.clone())]).note(if starts_plan {
            "If it has `slots`, ask for the device of each slot and start with \
             `slot_deployment_configs`:{\"<index>\":{\"deployment_config_id\",\"build_id\"}} too."
        } else {
            "If it has `slots`, stop and tell the person: this server cannot start a plan on several platforms."
        });
    }

    if device.is_none() {
        prompt.call(GetBuild::tool, [(BUILD, build.clone())]);
        prompt.call(ListDeploymentConfigs::tool, []);
        device = Some(answered::<ListDeploymentConfigs>("data[?].id"));
    }

    let start = if starts_plan { StartTestPlanRun::tool } else { StartRun::tool };
    // The start of a plan creates an execution, the start of a test only jobs.
    let (started_id, started) = match plan {
        Some(_) => (EXECUTION, from_answer_of(start, "test_plan_execution_id")),
        None => (JOB, answered::<StartRun>("job_ids[]")),
    };
    prompt.call(start, [(TEST_PLAN, plan), ("multiplayer_test_id", test), (BUILD, build), (DEVICE, device)]);
    prompt.call(WaitForCompletion::tool, [(started_id, Some(started.clone()))]);
    prompt.call(SummarizeResults::tool, [(started_id, Some(started)), (COMPARED_WITH, compared_with)]);

    prompt.end_like(&RELEASE_SMOKE)
}

pub(super) fn write_a_test(arguments: &Fields, config: &McpConfig) -> String {
    let mut text = Text::new(WRITE_A_TEST.purpose(), arguments, config);
    let mut similar = given(arguments, TEST);

    if similar.is_none() {
        text.call(ListTests::tool, []);
        similar = Some(answered::<ListTests>("data[?].id"));
    }

    text.call(GetTest::tool, [(TEST, similar)]);
    text.call(ListSharedSteps::tool, []);
    text.call(CreateTest::tool, []).note(
        "`test` has the form of the similar test, without `test_step_id`, and the content that the user agreed to.",
    );

    text.end_like(&WRITE_A_TEST)
}

pub(super) fn keep_flaky_tests_down(arguments: &Fields, config: &McpConfig) -> String {
    let (plan, completed, newest) = (given(arguments, TEST_PLAN), constant("completed"), constant(10));
    let execution = answered::<ListTestPlanExecutions>("data[].id");
    let retried = Some(answered::<SummarizeResults>("passed_after_retry[].test.id"));

    let mut text = Text::new(KEEP_FLAKY_TESTS_DOWN.purpose(), arguments, config);
    let filter = [(TEST_PLAN, plan), ("status", Some(completed)), ("page_size", Some(newest))];
    text.call(ListTestPlanExecutions::tool, filter);
    text.call(SummarizeResults::tool, [(EXECUTION, Some(execution))]);
    text.call(ListRuns::tool, [("multiplayer_test_id", retried.clone()), ("newest", Some(constant(20)))])
        .note("Also for each test that passed in one of the executions and not in another one.");
    text.call(GetTest::tool, [(TEST, retried)]);

    text.end_like(&KEEP_FLAKY_TESTS_DOWN)
}

pub(super) fn nightly_report(arguments: &Fields, config: &McpConfig) -> String {
    let purpose = "Report on the latest results of a test plan. Change nothing.";
    let mut text = Text::new(purpose, arguments, config);

    if let Some(plan) = given(arguments, TEST_PLAN) {
        let (completed, newest) = (constant("completed"), constant(1));
        let filter = [(TEST_PLAN, Some(plan)), ("status", Some(completed)), ("page_size", Some(newest))];
        text.call(ListTestPlanExecutions::tool, filter);
    }

    let latest = || answered::<ListTestPlanExecutions>("data[].id");
    let execution = given(arguments, EXECUTION).unwrap_or_else(latest);
    let compared_with = given(arguments, COMPARED_WITH).unwrap_or_else(|| constant("previous"));
    let summary = [(EXECUTION, Some(execution)), (COMPARED_WITH, Some(compared_with))];
    text.call(SummarizeResults::tool, summary);

    text.end(
        "Then write the report: plan, build and time; passed and failed tests; which tests newly fail, are fixed or \
         passed only after a retry; the causes, the most frequent first; and which results are no verdict on the product. Say so if the \
         execution has not ended. Keep it short enough to read in a minute.",
    )
}

pub(super) fn export_results(arguments: &Fields, config: &McpConfig) -> String {
    let (execution, run) = (given(arguments, EXECUTION), given(arguments, RUN));
    // The service recognizes an earlier export of an execution, but not of a run.
    let force_new_run = execution.is_some().then(|| constant(false));

    let mut text = Text::new(EXPORT_RESULTS.purpose(), arguments, config);
    text.call(SummarizeResults::tool, [(EXECUTION, execution.clone()), (RUN, run.clone())])
        .note(EXPORT_RESULTS.rules());
    text.call(
        ExportTmsysRun::tool,
        [(EXECUTION, execution), ("multiplayer_run_id", run), ("force_new_run", force_new_run)],
    );

    text.end(EXPORT_RESULTS.report())
}

/// The value of an argument, as JSON.
#[derive(Clone)]
struct ArgumentValue {
    json: String,
    /// The tool whose answer contains the value.
    source: Option<&'static str>,
}

/// Returns the value that the person gave. `<` and `>` are escaped, so that it cannot look like a value from an answer.
fn given(arguments: &Fields, name: &str) -> Option<ArgumentValue> {
    let json = arguments.get(name)?.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    Some(ArgumentValue { json, source: None })
}

fn constant(value: impl Into<Value>) -> ArgumentValue {
    ArgumentValue { json: value.into().to_string(), source: None }
}

/// Returns the value at `path` in the answer of an earlier call of `T`.
fn answered<T: ListedTool>(path: &str) -> ArgumentValue {
    from_answer_of(T::tool, path)
}

fn from_answer_of(tool: ToolReference, path: &str) -> ArgumentValue {
    let name = tool().name;
    ArgumentValue { json: format!("\"<{name}.{path}>\""), source: Some(name) }
}

/// The text of a prompt while it is written.
struct Text<'a> {
    lines: Vec<String>,
    /// The tools that the text calls.
    called: Vec<&'static str>,
    /// Whether a call takes a value from the answer of another one.
    reads_answers: bool,
    /// Whether the last call is in the text.
    has_last_call: bool,
    selection: &'a Selection,
    /// The project that the person gave.
    project: Option<ArgumentValue>,
}

impl<'a> Text<'a> {
    fn new(purpose: &str, arguments: &Fields, config: &'a McpConfig) -> Self {
        let head = [purpose, "", "Call these tools in this order:"];

        Self {
            lines: head.map(str::to_owned).to_vec(),
            called: Vec::new(),
            reads_answers: false,
            has_last_call: false,
            selection: &config.selection,
            project: given(arguments, PROJECT_ID),
        }
    }

    /// Adds a call. Arguments without a value are left out. A call of a tool that is not offered is left out, and every call
    /// that needs its answer.
    fn call<const N: usize>(
        &mut self,
        tool: ToolReference,
        arguments: [(&str, Option<ArgumentValue>); N],
    ) -> &mut Self {
        let project = (PROJECT_ID, self.project.clone());
        let arguments = arguments.into_iter().chain([project]);
        let arguments: Vec<_> = arguments.filter_map(|(name, value)| Some((name, value?))).collect();
        let is_answered = |value: &ArgumentValue| value.source.is_none_or(|tool| self.called.contains(&tool));

        self.has_last_call =
            self.selection.offers(tool().info) && arguments.iter().all(|(_, value)| is_answered(value));
        if self.has_last_call {
            self.reads_answers |= arguments.iter().any(|(_, value)| value.source.is_some());
            self.called.push(tool().name);

            let written: Vec<_> =
                arguments.iter().map(|(name, value)| format!("\"{name}\":{}", value.json)).collect();
            let (number, name) = (self.called.len(), tool().name);
            self.lines.push(format!("{number}. {name} {{{}}}", written.join(",")));
        }

        self
    }

    /// Adds a line below the last call.
    fn note(&mut self, note: &str) {
        if self.has_last_call {
            self.lines.push(format!("   {note}"));
        }
    }

    /// Returns the text with the rules and the report of a skill after the calls.
    fn end_like(self, skill: &Skill) -> String {
        self.end(&format!("{}\n{}", skill.rules(), skill.report()))
    }

    /// Returns the text with these sentences after the calls.
    fn end(mut self, sentences: &str) -> String {
        self.lines.push(String::new());
        if self.reads_answers {
            self.lines.push(LEGEND.to_owned());
        }
        self.lines.push(sentences.to_owned());

        self.lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_values_from_answers_have_angle_brackets() {
        let arguments = Fields::from_iter([("run_id".to_owned(), json!("<get_run.id>"))]);
        let value = given(&arguments, "run_id").expect("a value");

        assert_eq!(value.json, r#""\u003cget_run.id\u003e""#);
        assert_eq!(answered::<GetRun>("project_id").json, r#""<get_run.project_id>""#);
        assert_eq!(constant(false).json, "false");
    }
}
