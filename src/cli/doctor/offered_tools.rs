//! The tools that hosts are offered, and the tokens that the tools cost.

use serde::Serialize;

use crate::{
    cli::tools::estimate_tokens, service::tool::Toolset, settings::Settings, tools::selection::Selection,
};

/// The tools that hosts are offered.
#[derive(Serialize)]
pub(in crate::cli) struct OfferedTools {
    /// Number of the tools.
    pub(super) offered: usize,
    /// Approximate number of tokens of all tools.
    pub(super) tokens: usize,
    pub(super) sets: Vec<OfferedToolset>,
}

/// The offered tools of one toolset.
#[derive(Serialize)]
pub(in crate::cli) struct OfferedToolset {
    pub(super) set: &'static str,
    pub(super) tools: Vec<&'static str>,
    pub(super) tokens: usize,
}

impl OfferedTools {
    /// Returns the tools that these settings select.
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let selection = settings.selection();
        let is_global = settings.project().is_none();
        let sets = Toolset::ALL.iter().map(|set| OfferedToolset::new(*set, &selection, is_global));
        let sets: Vec<_> = sets.filter(|set| !set.tools.is_empty()).collect();

        Self { offered: selection.tools().count(), tokens: sets.iter().map(|set| set.tokens).sum(), sets }
    }
}

impl OfferedToolset {
    fn new(set: Toolset, selection: &Selection, is_global: bool) -> Self {
        let (mut tools, mut tokens) = (Vec::new(), 0);
        for tool in selection.tools().filter(|tool| tool.toolset == set) {
            tools.push(tool.name);
            tokens += estimate_tokens(tool, is_global, selection);
        }

        Self { set: set.name(), tools, tokens }
    }
}
