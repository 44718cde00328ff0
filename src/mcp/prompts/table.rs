//! The prompts.

use super::{
    definition::{Exclusion, PromptDefinition, PromptParameter},
    scripts::{
        BUILD, COMPARED_WITH, DEVICE, EXECUTION, RUN, TEST, TEST_PLAN, export_results, nightly_report,
        test_this_build, triage_run,
    },
};
use crate::{
    mcp::{listed_tool::ListedTool as _, value_source::ValueSource},
    service::api::{
        configs::ListDeploymentConfigs,
        executions::ListTestPlanExecutions,
        exports::ExportTmsysRun,
        plans::ListTestPlans,
        runs::{GetRun, StartRun},
    },
    tools::composite::{SummarizeResults, WaitForCompletion},
};

/// The prompts, in the order in which hosts list them.
pub(super) static PROMPTS: [PromptDefinition; 4] = [
    PromptDefinition {
        name: "triage_run",
        title: "Triage a run",
        description: "Finds out why a run failed, and whether the product, the test or the environment is at fault.",
        tools: &[GetRun::tool_entry],
        parameters: &[required(RUN, "Run to examine", ValueSource::Runs)],
        exclusion: Exclusion::None,
        script: triage_run,
    },
    PromptDefinition {
        name: "test_this_build",
        title: "Test this build",
        description: "Runs a test plan or a saved test on a build, waits for the verdicts and summarizes them.",
        tools: &[
            ListTestPlans::tool_entry,
            ListDeploymentConfigs::tool_entry,
            StartRun::tool_entry,
            WaitForCompletion::tool_entry,
        ],
        parameters: &[
            required(BUILD, "Build to test", ValueSource::Builds),
            optional(
                TEST_PLAN,
                "Test plan to run; with neither plan nor test, one is chosen",
                ValueSource::TestPlans,
            ),
            optional(TEST, "Saved test to run instead of a plan", ValueSource::Tests),
            optional(
                DEVICE,
                "Device to run on; default: chosen by the build",
                ValueSource::DeploymentConfigs,
            ),
        ],
        exclusion: Exclusion::AtMostOne(&[TEST_PLAN, TEST]),
        script: test_this_build,
    },
    PromptDefinition {
        name: "nightly_report",
        title: "Nightly report",
        description: "Reports on an execution of a test plan, and on what is new since an earlier execution.",
        tools: &[SummarizeResults::tool_entry],
        parameters: &[
            optional(EXECUTION, "Execution to report on", ValueSource::Executions),
            PromptParameter {
                tool: Some(ListTestPlanExecutions::tool_entry),
                ..optional(
                    TEST_PLAN,
                    "Test plan, to report on its latest completed execution",
                    ValueSource::TestPlans,
                )
            },
            optional(
                COMPARED_WITH,
                "Execution to compare with; default: the previous one",
                ValueSource::ComparableExecutions,
            ),
        ],
        exclusion: Exclusion::ExactlyOne(&[EXECUTION, TEST_PLAN]),
        script: nightly_report,
    },
    PromptDefinition {
        name: "export_results",
        title: "Export results",
        description: "Exports the results of a plan execution or of a run to the test-management system.",
        tools: &[ExportTmsysRun::tool_entry],
        parameters: &[
            optional(EXECUTION, "Execution to export", ValueSource::Executions),
            optional(RUN, "Single run to export instead", ValueSource::Runs),
        ],
        exclusion: Exclusion::ExactlyOne(&[EXECUTION, RUN]),
        script: export_results,
    },
];

const fn required(name: &'static str, description: &'static str, source: ValueSource) -> PromptParameter {
    PromptParameter { name, description, is_required: true, source, tool: None }
}

const fn optional(name: &'static str, description: &'static str, source: ValueSource) -> PromptParameter {
    PromptParameter { name, description, is_required: false, source, tool: None }
}
