//! `find_by_name`: the ids of records that are known by name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::CompositeTool;
use crate::{
    failure::Failure,
    service::tool::{ToolInfo, Toolset},
    tools::{
        context::ToolContext,
        name_search::{NameSearch, NameSearchAnswer, RecordKind},
    },
};

/// Finds tests, plans, devices, builds and other records by name, in all folders and pages. Use this to get ids.
///
/// Returns all records with the name, or else the nearest ones, marked `similar`. The `id` of a test is the
/// `multiplayer_test_id` of other tools.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindByName {
    /// 1-20 names or ids.
    #[schemars(length(min = 1, max = 20), inner(length(min = 1, max = 200)))]
    pub names: Vec<String>,
    /// Default: all.
    pub kinds: Option<Vec<RecordKind>>,
}

impl CompositeTool for FindByName {
    const TOOL: ToolInfo = ToolInfo::reads("find_by_name", "Find records by name", Toolset::Runs).core();
    type Answer = NameSearchAnswer;

    async fn run(self, context: ToolContext) -> Result<NameSearchAnswer, Failure> {
        let search = NameSearch { names: self.names, kinds: self.kinds.unwrap_or_default() };
        search.run(&context.caller, context.project, &context.options).await
    }
}
