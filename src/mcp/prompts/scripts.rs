//! The calls of each prompt.

use super::{
    arguments::PromptArguments,
    script::{ArgumentValue, CallScript},
};
use crate::{
    mcp::listed_tool::{ListedTool as _, is_offered},
    service::{
        api::{
            bugs::{GetBug, ListRunBugs},
            builds::GetBuild,
            configs::ListDeploymentConfigs,
            executions::ListTestPlanExecutions,
            exports::ExportTmsysRun,
            plans::{GetTestPlan, ListTestPlans, StartTestPlanRun},
            runs::{GetRun, StartRun},
        },
        result_kind::ResultKind,
    },
    tools::{
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

/// Argument that names the execution to report on.
pub(in crate::mcp) const EXECUTION: &str = ResultKind::Execution.argument();

const JOB: &str = ResultKind::Job.argument();

pub(super) fn triage_run(arguments: &PromptArguments, _: &Selection) -> CallScript {
    let run = arguments.call_argument(RUN);

    CallScript::new("Find out why this run ended as it did. Change nothing.")
        .call::<SummarizeResults>([(RUN, run.clone())])
        .call::<GetRun>([(RUN, run.clone())])
        .call::<ListRunBugs>([(RUN, run)])
        .call::<GetBug>([("bug_id", Some(ArgumentValue::from_answer::<ListRunBugs>("data[].bug_id")))])
        .with_default_project(ArgumentValue::from_answer::<GetRun>("project_id"))
        .with_note("If this fails with `feature_disabled`, the project has no bug review: continue without it.")
        .close_with(
            "Then tell the person: the step that decided the result, what it expected and what was seen; whether the \
             product, the test or the environment is at fault, and how certain that is (ERROR, TIMEOUT and STOPPED \
             are no verdict on the product); which bugs are known; and what to do next.",
        )
}

pub(super) fn test_this_build(arguments: &PromptArguments, selection: &Selection) -> CallScript {
    let build = arguments.call_argument(BUILD);
    let mut script = CallScript::new("Test this build: start it, wait for the verdicts and report them.");
    let (mut plan, test) = (arguments.call_argument(TEST_PLAN), arguments.call_argument(TEST));

    if plan.is_none() && test.is_none() {
        script = script.call::<ListTestPlans>([]);
        plan = Some(ArgumentValue::from_answer::<ListTestPlans>("data[?].id"));
    }

    // Only `start_test_plan_run` takes a device for each slot of a plan.
    let starts_plan = plan.is_some() && is_offered(selection, StartTestPlanRun::tool_entry);
    if plan.is_some() {
        script = script.call::<GetTestPlan>([(TEST_PLAN, plan.clone())]).with_note(if starts_plan {
            "If it has `slots`, ask for the device of each slot and start with \
             `slot_deployment_configs`:{\"<index>\":{\"deployment_config_id\",\"build_id\"}} too."
        } else {
            "If it has `slots`, stop and tell the person: this server cannot start a plan on several platforms."
        });
    }

    let mut device = arguments.call_argument(DEVICE);
    if device.is_none() {
        script = script
            .call::<GetBuild>([(BUILD, build.clone())])
            .call::<ListDeploymentConfigs>([])
            .close_with("A device fits if its `providerType` is `build-storage` and its `kind` fits the platform of the build.");
        device = Some(ArgumentValue::from_answer::<ListDeploymentConfigs>("data[?].id"));
    }

    let start = if starts_plan { StartTestPlanRun::tool_entry() } else { StartRun::tool_entry() };
    // The start of a plan creates an execution, the start of a test only jobs.
    let (started_id, started) = match plan {
        Some(_) => (EXECUTION, ArgumentValue::FromAnswer(start, "test_plan_execution_id")),
        None => (JOB, ArgumentValue::from_answer::<StartRun>("job_ids[]")),
    };

    script
        .call_entry(
            start,
            [(TEST_PLAN, plan), ("multiplayer_test_id", test), (BUILD, build), (DEVICE, device)],
        )
        .call::<WaitForCompletion>([(started_id, Some(started.clone()))])
        .call::<SummarizeResults>([(started_id, Some(started))])
        .close_with("Start once. While the wait returns `timed_out`, repeat only the wait.")
        .close_with(
            "Then tell the person the verdict of every test, why tests failed, and whether the build can be released; \
             ERROR, TIMEOUT and STOPPED are no verdict on the build.",
        )
}

pub(super) fn nightly_report(arguments: &PromptArguments, _: &Selection) -> CallScript {
    let mut script = CallScript::new("Report on the latest results of a test plan. Change nothing.");

    if let Some(plan) = arguments.call_argument(TEST_PLAN) {
        script = script.call::<ListTestPlanExecutions>([
            (TEST_PLAN, Some(plan)),
            ("status", Some(ArgumentValue::constant("completed"))),
            ("page_size", Some(ArgumentValue::constant(1))),
        ]);
    }

    let latest = || ArgumentValue::from_answer::<ListTestPlanExecutions>("data[].id");
    let execution = arguments.call_argument(EXECUTION).unwrap_or_else(latest);
    let compared_with = arguments.call_argument(COMPARED_WITH);
    let compared_with = compared_with.unwrap_or_else(|| ArgumentValue::constant("previous"));

    script
        .call::<SummarizeResults>([(EXECUTION, Some(execution)), (COMPARED_WITH, Some(compared_with))])
        .close_with(
            "Then write the report: plan, build and time; passed and failed tests; which tests newly fail, are fixed \
             or are flaky; the causes, the most frequent first; and which results are no verdict on the product. Say \
             so if the execution has not ended. Keep it short enough to read in a minute.",
        )
}

pub(super) fn export_results(arguments: &PromptArguments, _: &Selection) -> CallScript {
    let (execution, run) = (arguments.call_argument(EXECUTION), arguments.call_argument(RUN));
    // The service recognizes an earlier export of an execution, but not of a run.
    let force_new_run = execution.is_some().then(|| ArgumentValue::constant(false));

    CallScript::new("Export results to the test-management system.")
        .call::<SummarizeResults>([(EXECUTION, execution.clone()), (RUN, run.clone())])
        .with_note(
            "If `state` is not `completed`, ask the person before you continue: only ended runs are exported.",
        )
        .call::<ExportTmsysRun>([
            (EXECUTION, execution),
            ("multiplayer_run_id", run),
            ("force_new_run", force_new_run),
        ])
        .close_with("Export once.")
        .close_with(
            "Then tell the person whether the export succeeded (`success`), whether the results were exported before \
             (`already_exported`), and where the entry is.",
        )
}
