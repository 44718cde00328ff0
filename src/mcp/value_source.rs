//! The records whose ids complete an argument of a prompt or a variable of a resource template.

/// Source of the values of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ValueSource {
    Projects,
    Runs,
    Bugs,
    TestPlans,
    Executions,
    /// Executions that another execution can be compared with.
    ComparableExecutions,
    SharedSteps,
    Agents,
    Tests,
    Builds,
    DeploymentConfigs,
}
