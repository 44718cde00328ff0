//! Which tools are offered: the setting `TAS_TOOLSETS` and read-only mode (`design.md` 5).

use std::collections::BTreeSet;

use crate::{
    service::tool::{Tier, Tool, Toolset},
    text::most_similar,
    tools::catalog::{self, ToolEntry},
};

/// The tools that are offered; fixed while the server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    names: BTreeSet<&'static str>,
    read_only: bool,
}

/// A word that is neither a set nor a tool.
#[derive(Debug, thiserror::Error)]
#[error("has the unknown word `{word}`{}; valid are default, all, the sets {} and the names of tools", .nearest.map(|nearest| format!(" (nearest: `{nearest}`)")).unwrap_or_default(), set_names().join(", "))]
pub struct UnknownWord {
    word: String,
    nearest: Option<&'static str>,
}

impl Selection {
    /// The core tools.
    pub fn default_tools(read_only: bool) -> Self {
        let names =
            catalog::tools().filter(|tool| tool.tier == Tier::Core).map(|tool| tool.tool().name).collect();
        Self { names, read_only }
    }

    /// Combines the words from left to right; a selection that begins with an exclusion starts from the default.
    pub fn parse(words: &str, read_only: bool) -> Result<Self, UnknownWord> {
        let words: Vec<_> = words.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let from_default = words.first().is_none_or(|word| word.starts_with('-'));
        let mut names = if from_default { Self::default_tools(read_only).names } else { BTreeSet::new() };

        for word in words {
            match word.strip_prefix('-') {
                Some(excluded) => {
                    let excluded = tools(excluded)?;
                    names.retain(|name| !excluded.contains(name));
                }
                None => names.extend(tools(word)?),
            }
        }

        Ok(Self { names, read_only })
    }

    /// Whether the tool is offered.
    pub fn offers(&self, tool: &Tool) -> bool {
        self.names.contains(tool.name) && (!self.read_only || tool.effect.is_read_only())
    }

    /// What whoever calls a tool that is not offered is told.
    pub fn refusal(&self, tool: &Tool) -> String {
        let is_writing = self.read_only && !tool.effect.is_read_only();
        let why = tool.switched_off_by(if is_writing { "TAS_READ_ONLY" } else { "TAS_TOOLSETS" });
        // To whoever asked for the list it is none.
        format!("unknown tool: {why}")
    }

    /// Whether only tools that change nothing are offered.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The offered tools, in the order of the catalog.
    pub fn tools(&self) -> impl Iterator<Item = ToolEntry> {
        catalog::tools().filter(|tool| self.offers(tool))
    }
}

/// The tools that a word stands for.
fn tools(word: &str) -> Result<BTreeSet<&'static str>, UnknownWord> {
    let named = |wanted: &dyn Fn(&Tool) -> bool| {
        catalog::tools().filter(|tool| wanted(tool)).map(|tool| tool.tool().name).collect()
    };
    Ok(match word {
        "default" => Selection::default_tools(false).names,
        "all" => named(&|_| true),
        _ => match Toolset::ALL.iter().find(|set| set.name() == word) {
            Some(set) => named(&|tool| tool.toolset == *set),
            None if catalog::find_tool(word).is_some() => named(&|tool| tool.name == word),
            None => return Err(unknown(word)),
        },
    })
}

fn unknown(word: &str) -> UnknownWord {
    let names = catalog::tools().map(|tool| tool.tool().name);
    let known = ["default", "all"].into_iter().chain(set_names()).chain(names);
    let word: String = word.chars().take(60).collect();
    UnknownWord { nearest: most_similar(&word, known), word }
}

fn set_names() -> Vec<&'static str> {
    Toolset::ALL.iter().map(|set| set.name()).collect()
}
