//! The prompts.

use serde_json::json;

use super::{
    Argument, Choice, Prompt,
    given::Given,
    offers,
    script::{
        Piece::{Answer, Fixed},
        Script,
    },
};
use crate::{
    mcp::completion::Source,
    service::{
        api::{
            bugs::{GetBug, ListRunBugs},
            builds::GetBuild,
            configs::ListDeploymentConfigs,
            executions::ListTestPlanExecutions,
            exports::ExportTmsysRun,
            plans::{GetTestPlan, ListTestPlans},
            runs::GetRun,
            start::{StartRun, StartTestPlanRun},
        },
        operation::Operation,
        result_kind::ResultKind,
    },
    tools::{
        composite::{CompositeTool, SummarizeResults, WaitForCompletion},
        selection::Selection,
    },
};

/// In the order in which they are listed.
pub(super) static PROMPTS: [Prompt; 4] = [
    Prompt {
        name: "triage_run",
        title: "Triage a run",
        description: "Finds out why a run failed, and whether the product, the test or the environment is at fault.",
        needs: &[GetRun::NAME],
        arguments: &[Argument { is_required: true, ..given(RUN, "Run to look into", Source::Runs) }],
        choice: Choice::Free,
        script: triage_run,
    },
    Prompt {
        name: "test_this_build",
        title: "Test this build",
        description: "Runs a test plan or a saved test on a build, waits for the verdicts and sums them up.",
        needs: &[ListTestPlans::NAME, ListDeploymentConfigs::NAME, StartRun::NAME, WaitForCompletion::NAME],
        arguments: &[
            Argument { is_required: true, ..given("build_id", "Build to test", Source::Builds) },
            given(PLAN, "Test plan to run; with neither plan nor test, one is chosen", Source::Plans),
            given(TEST, "Saved test to run instead of a plan", Source::Tests),
            given(DEVICE, "Device to run on; default: chosen by the build", Source::Devices),
        ],
        choice: Choice::AtMostOne(&[PLAN, TEST]),
        script: test_this_build,
    },
    Prompt {
        name: "nightly_report",
        title: "Nightly report",
        description: "Reports on an execution of a test plan, and on what is new since an earlier one.",
        needs: &[SummarizeResults::NAME],
        arguments: &[
            given(EXECUTION, "Execution to report on", Source::Executions),
            Argument {
                needs: Some(ListTestPlanExecutions::NAME),
                ..given(PLAN, "Test plan, to report on its latest completed execution", Source::Plans)
            },
            given("compare_with", "Execution to compare with; default: the previous one", Source::Baselines),
        ],
        choice: Choice::ExactlyOne(&[EXECUTION, PLAN]),
        script: nightly_report,
    },
    Prompt {
        name: "export_results",
        title: "Export results",
        description: "Exports the results of a plan execution or of a run to the test-management system.",
        needs: &[ExportTmsysRun::NAME],
        arguments: &[
            given(EXECUTION, "Execution to export", Source::Executions),
            given(RUN, "Single run to export instead", Source::Runs),
        ],
        choice: Choice::ExactlyOne(&[EXECUTION, RUN]),
        script: export_results,
    },
];

const PLAN: &str = "test_plan_id";
const TEST: &str = "test_id";
const DEVICE: &str = "deployment_config_id";
const RUN: &str = ResultKind::Run.argument();
const JOB: &str = ResultKind::Job.argument();
const EXECUTION: &str = ResultKind::Execution.argument();

/// An optional argument.
const fn given(name: &'static str, description: &'static str, source: Source) -> Argument {
    Argument { name, description, is_required: false, source, needs: None }
}

fn triage_run(given: &Given, _: &Selection) -> Script {
    let run = given.piece(RUN);
    Script::new("Find out why this run ended as it did. Change nothing.")
        .call(SummarizeResults::NAME, [(RUN, run.clone())])
        .call(GetRun::NAME, [(RUN, run.clone())])
        .call(ListRunBugs::NAME, [(RUN, run)])
        .call(GetBug::NAME, [("bug_id", Some(Answer(ListRunBugs::NAME, "data[].bug_id")))])
        .in_project(Answer(GetRun::NAME, "project_id"))
        .noting("If this ends as `feature_disabled`, the project has no bug review: go on without it.")
        .then(
            "Then tell the person: the step that decided, what it expected and what was seen; whether the product, \
             the test or the environment is at fault, and how sure that is (ERROR, TIMEOUT and STOPPED are no verdict \
             on the product); which bugs are known; and what to do next.",
        )
}

fn test_this_build(given: &Given, selection: &Selection) -> Script {
    let build = given.piece("build_id");
    let mut script = Script::new("Test this build: start it, wait for the verdicts and report them.");
    let (mut plan, test) = (given.piece(PLAN), given.piece(TEST));

    if plan.is_none() && test.is_none() {
        script = script.call(ListTestPlans::NAME, []);
        plan = Some(Answer(ListTestPlans::NAME, "data[?].id"));
    }

    // Only this one takes a device for each slot of a plan.
    let start = match plan {
        Some(_) if offers(selection, StartTestPlanRun::NAME) => StartTestPlanRun::NAME,
        _ => StartRun::NAME,
    };

    if plan.is_some() {
        script = script.call(GetTestPlan::NAME, [(PLAN, plan.clone())]).noting(if start == StartRun::NAME {
            "If it has `slots`, stop and tell the person: this server cannot start a plan on several platforms."
        } else {
            "If it has `slots`, ask for the device of each and start with \
             `slot_deployment_configs`:{\"<index>\":{\"deployment_config_id\",\"build_id\"}} too."
        });
    }

    let mut device = given.piece(DEVICE);
    if device.is_none() {
        script =
            script.call(GetBuild::NAME, [("build_id", build.clone())]).call(ListDeploymentConfigs::NAME, []);
        device = Some(Answer(ListDeploymentConfigs::NAME, "data[?].id"));
        script = script
            .then("A device fits with `providerType` `build-storage` and a `kind` for the build's platform.");
    }

    // A plan starts an execution, a test only jobs.
    let (name, started) = match plan {
        Some(_) => (EXECUTION, Answer(start, "test_plan_execution_id")),
        None => (JOB, Answer(StartRun::NAME, "job_ids[]")),
    };

    script
        .call(start, [(PLAN, plan), ("multiplayer_test_id", test), ("build_id", build), (DEVICE, device)])
        .call(WaitForCompletion::NAME, [(name, Some(started.clone()))])
        .call(SummarizeResults::NAME, [(name, Some(started))])
        .then("Start once; while the wait answers `timed_out`, repeat only the wait.")
        .then(
            "Then tell the person the verdict of every test, why it failed where it did, and whether the build can go \
             on; ERROR, TIMEOUT and STOPPED are no verdict on it.",
        )
}

fn nightly_report(given: &Given, _: &Selection) -> Script {
    let mut script = Script::new("Report on the latest results of a test plan. Change nothing.");
    let execution = given.piece(EXECUTION).unwrap_or(Answer(ListTestPlanExecutions::NAME, "data[].id"));

    if let Some(plan) = given.piece(PLAN) {
        let (latest, one) = (Fixed(json!("completed")), Fixed(json!(1)));
        let arguments = [(PLAN, Some(plan)), ("status", Some(latest)), ("page_size", Some(one))];
        script = script.call(ListTestPlanExecutions::NAME, arguments);
    }

    let earlier = given.piece("compare_with").unwrap_or(Fixed(json!("previous")));

    script
        .call(SummarizeResults::NAME, [(EXECUTION, Some(execution)), ("compare_with", Some(earlier))])
        .then(
            "Then write the report: plan, build and time; passed and failed tests; what newly fails, what is fixed and \
             what is flaky; the causes, the most frequent first; and what was no verdict on the product. Say so if the \
             execution is still under way. Keep it short enough to be read in a minute.",
        )
}

fn export_results(given: &Given, _: &Selection) -> Script {
    let (execution, run) = (given.piece(EXECUTION), given.piece(RUN));
    let is_new = execution.is_some().then_some(Fixed(json!(false)));
    let script = Script::new("Export results to the test-management system.")
        .call(SummarizeResults::NAME, [(EXECUTION, execution.clone()), (RUN, run.clone())])
        .noting(
            "If `state` is not `completed`, ask the person before you go on: only what is over is exported.",
        )
        .call(
            ExportTmsysRun::NAME,
            [(EXECUTION, execution), ("multiplayer_run_id", run), ("force_new_run", is_new)],
        )
        .then("Export once.");

    script.then(
        "Then tell the person whether it succeeded (`success`), whether it had been exported before \
         (`already_exported`), and where the entry is.",
    )
}
