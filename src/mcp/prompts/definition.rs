//! The definition of a prompt.

use rmcp::model::{self, PromptArgument};

use super::{arguments::PromptArguments, script::CallScript};
use crate::{
    mcp::{
        config::McpConfig,
        listed_tool::{ToolReference, is_offered},
        value_source::ValueSource,
    },
    service::tool::PROJECT_ID,
    tools::selection::Selection,
};

/// A prompt.
pub(in crate::mcp) struct PromptDefinition {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// Tools that must be offered.
    pub(super) tools: &'static [ToolReference],
    pub(super) parameters: &'static [PromptParameter],
    pub(super) exclusion: Exclusion,
    /// Writes the calls for the arguments.
    pub(super) script: fn(&PromptArguments, &Selection) -> CallScript,
}

/// A parameter of a prompt.
pub(super) struct PromptParameter {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) is_required: bool,
    /// Source of the values, for completion.
    pub(super) source: ValueSource,
    /// Tool without which the parameter is useless.
    pub(super) tool: Option<ToolReference>,
}

/// Which parameters exclude one another.
pub(super) enum Exclusion {
    None,
    ExactlyOne(&'static [&'static str]),
    AtMostOne(&'static [&'static str]),
}

/// The parameter that every prompt has in global scope.
const PROJECT: PromptParameter = PromptParameter {
    name: PROJECT_ID,
    description: "Project; required if the key has several",
    is_required: false,
    source: ValueSource::Projects,
    tool: None,
};

impl Exclusion {
    /// Returns whether `name` is the only offered parameter of a group of which exactly one is required.
    fn requires(&self, name: &str, offered: &[&PromptParameter]) -> bool {
        let Self::ExactlyOne(names) = self else { return false };
        let is_offered = |name: &&&str| offered.iter().any(|parameter| parameter.name == **name);
        let mut left = names.iter().filter(is_offered);
        (left.next().copied(), left.next()) == (Some(name), None)
    }
}

impl PromptDefinition {
    /// Returns whether all tools that the prompt needs are offered.
    pub(super) fn is_offered(&self, selection: &Selection) -> bool {
        self.tools.iter().all(|tool| is_offered(selection, *tool))
    }

    /// Returns the parameters that are useful with the offered tools.
    pub(super) fn offered_parameters(&self, config: &McpConfig) -> Vec<&'static PromptParameter> {
        let is_useful = |parameter: &&PromptParameter| {
            parameter.tool.is_none_or(|tool| is_offered(&config.selection, tool))
        };
        let own = self.parameters.iter().filter(is_useful);
        own.chain(config.is_global().then_some(&PROJECT)).collect()
    }

    /// Returns whether a parameter is required.
    pub(super) fn is_required(&self, parameter: &PromptParameter, offered: &[&PromptParameter]) -> bool {
        parameter.is_required || self.exclusion.requires(parameter.name, offered)
    }

    /// Returns the source of the values of a parameter, or `None` if the prompt has no such parameter.
    pub(in crate::mcp) fn value_source(&self, parameter: &str, config: &McpConfig) -> Option<ValueSource> {
        let offered = self.offered_parameters(config);
        offered.into_iter().find(|offered| offered.name == parameter).map(|offered| offered.source)
    }

    /// Returns the prompt as hosts list it.
    pub(super) fn publish(&self, config: &McpConfig) -> model::Prompt {
        let offered = self.offered_parameters(config);
        let published = |parameter: &&PromptParameter| {
            PromptArgument::new(parameter.name)
                .with_description(parameter.description)
                .with_required(self.is_required(parameter, &offered))
        };
        let arguments = offered.iter().map(published).collect();

        model::Prompt::new(self.name, Some(self.description), Some(arguments)).with_title(self.title)
    }
}
