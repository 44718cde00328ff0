//! The selection of offered tools: the setting `TAS_TOOLSETS` and read-only mode (`design.md` 5).

use std::collections::BTreeSet;

use crate::{
    service::{
        api::{
            configs::ListDeploymentConfigs,
            exports::ExportTmsysRun,
            runs::{GetRun, ListRuns, StartRun, StopRuns},
        },
        operation::Operation as _,
        tool::{Tier, Tool, Toolset},
    },
    text::most_similar,
    tools::{
        catalog::{self, ToolEntry},
        composite::{CompositeTool as _, FindByName, SummarizeResults, UploadBuild, WaitForCompletion},
    },
};

/// The tools of the word `lean`: the fewest that find records, start tests, wait, explain results, upload, export and stop.
/// At most 14, for hosts that have many servers.
pub const LEAN_TOOLS: [&str; 10] = [
    FindByName::NAME,
    ListDeploymentConfigs::NAME,
    UploadBuild::NAME,
    StartRun::NAME,
    WaitForCompletion::NAME,
    SummarizeResults::NAME,
    GetRun::NAME,
    ListRuns::NAME,
    StopRuns::NAME,
    ExportTmsysRun::NAME,
];

/// The tools that are offered. The selection does not change while the server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    names: BTreeSet<&'static str>,
    read_only: bool,
}

/// A word of the setting that is neither a set nor a tool.
#[derive(Debug, thiserror::Error)]
#[error("has the unknown word `{word}`{}; valid words are default, lean, all, the sets {} and the names of tools", .nearest.map(|nearest| format!(" (nearest: `{nearest}`)")).unwrap_or_default(), set_names().join(", "))]
pub struct UnknownWord {
    word: String,
    nearest: Option<&'static str>,
}

impl Selection {
    /// Selects the core tools.
    pub fn default_tools(read_only: bool) -> Self {
        let names =
            catalog::tools().filter(|tool| tool.tier == Tier::Core).map(|tool| tool.tool().name).collect();
        Self { names, read_only }
    }

    /// Selects all tools.
    pub fn all_tools() -> Self {
        Self { names: catalog::tools().map(|tool| tool.tool().name).collect(), read_only: false }
    }

    /// Parses a list of words, which are applied from left to right. A list that starts with an exclusion starts from the
    /// default selection.
    ///
    /// # Errors
    /// The first unknown word.
    pub fn parse(words: &str, read_only: bool) -> Result<Self, UnknownWord> {
        let words: Vec<_> = words.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let from_default = words.first().is_none_or(|word| word.starts_with('-'));
        let mut names = if from_default { Self::default_tools(read_only).names } else { BTreeSet::new() };

        for word in words {
            match word.strip_prefix('-') {
                Some(excluded) => {
                    let excluded = selected_by(excluded)?;
                    names.retain(|name| !excluded.contains(name));
                }
                None => names.extend(selected_by(word)?),
            }
        }

        Ok(Self { names, read_only })
    }

    /// Returns whether the tool is offered.
    pub fn offers(&self, tool: &Tool) -> bool {
        self.names.contains(tool.name) && (!self.read_only || tool.effect.is_read_only())
    }

    /// Returns the message for a call of a tool that is not offered.
    pub fn refusal(&self, tool: &Tool) -> String {
        let is_refused_write = self.read_only && !tool.effect.is_read_only();
        let reason = tool.switched_off_by(if is_refused_write { "TAS_READ_ONLY" } else { "TAS_TOOLSETS" });
        // The list of tools does not contain the tool, so the host knows no such tool.
        format!("unknown tool: {reason}")
    }

    /// Returns whether only tools that change nothing are offered.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Returns the offered tools, in the order in which hosts list them.
    pub fn tools(&self) -> impl Iterator<Item = ToolEntry> {
        catalog::tools().filter(|tool| self.offers(tool))
    }
}

/// Returns the names of the tools that a word selects.
fn selected_by(word: &str) -> Result<BTreeSet<&'static str>, UnknownWord> {
    let names_of = |wanted: &dyn Fn(&Tool) -> bool| -> BTreeSet<_> {
        catalog::tools().filter(|tool| wanted(tool)).map(|tool| tool.tool().name).collect()
    };
    Ok(match word {
        "default" => Selection::default_tools(false).names,
        "lean" => LEAN_TOOLS.into_iter().collect(),
        "all" => Selection::all_tools().names,
        _ => match Toolset::ALL.iter().find(|set| set.name() == word) {
            Some(set) => names_of(&|tool| tool.toolset == *set),
            None if catalog::find_tool(word).is_some() => names_of(&|tool| tool.name == word),
            None => return Err(unknown(word)),
        },
    })
}

fn unknown(word: &str) -> UnknownWord {
    let names = catalog::tools().map(|tool| tool.tool().name);
    let known = ["default", "lean", "all"].into_iter().chain(set_names()).chain(names);
    let word: String = word.chars().take(60).collect();
    UnknownWord { nearest: most_similar(&word, known), word }
}

fn set_names() -> Vec<&'static str> {
    Toolset::ALL.iter().map(|set| set.name()).collect()
}
