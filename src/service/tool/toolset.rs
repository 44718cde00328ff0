//! The sets of tools that a setting switches on or off.

/// A set of tools that is switched on or off together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Start, watch and stop runs and jobs.
    Runs,
    /// Export results to the test-management system.
    Exports,
    /// Bugs of runs, and reviewed bugs.
    Bugs,
    /// Builds in build storage.
    Builds,
    /// Saved tests and their folders.
    Tests,
    /// Test plans and their executions.
    Plans,
    /// Shared step collections.
    Steps,
    /// Deployment configs, agent configs and credential kinds.
    Configs,
    /// Knowledge files of projects, agents and tests.
    Knowledge,
    /// Files that the players of runs produce.
    Artifacts,
    /// Installers of Minions, the agents on test machines.
    Minions,
}

impl Toolset {
    /// Every set, in the order in which help texts list them.
    pub const ALL: [Self; 11] = [
        Self::Runs,
        Self::Exports,
        Self::Bugs,
        Self::Builds,
        Self::Tests,
        Self::Plans,
        Self::Steps,
        Self::Configs,
        Self::Knowledge,
        Self::Artifacts,
        Self::Minions,
    ];

    /// Returns the name of the set, as the setting `TAS_TOOLSETS` contains it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Exports => "exports",
            Self::Bugs => "bugs",
            Self::Builds => "builds",
            Self::Tests => "tests",
            Self::Plans => "plans",
            Self::Steps => "steps",
            Self::Configs => "configs",
            Self::Knowledge => "knowledge",
            Self::Artifacts => "artifacts",
            Self::Minions => "minions",
        }
    }
}

/// Whether a tool is offered by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The tool is offered by default: it is a main operation of the service, or another such tool needs it.
    Core,
    /// The tool is offered if its set, its name or `all` is selected.
    Extra,
}
