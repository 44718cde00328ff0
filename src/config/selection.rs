//! Which tools are offered: the setting `TAS_TOOLSETS` and read-only mode (`design.md` 5).

use std::collections::BTreeSet;

use crate::{
    arguments::nearest,
    catalog::{self, Entry, OPERATIONS},
    operation::{Tier, Toolset},
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
            OPERATIONS.iter().filter(|entry| entry.tier == Tier::Core).map(|entry| entry.name).collect();
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
    pub fn offers(&self, entry: &Entry) -> bool {
        self.names.contains(entry.name) && (!self.read_only || entry.effect.is_read_only())
    }

    /// Whether only tools that change nothing are offered.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The offered tools, in the order of the catalog.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        OPERATIONS.iter().filter(|entry| self.offers(entry))
    }
}

/// The tools that a word stands for.
fn tools(word: &str) -> Result<BTreeSet<&'static str>, UnknownWord> {
    let named = |wanted: &dyn Fn(&Entry) -> bool| {
        OPERATIONS.iter().filter(|entry| wanted(entry)).map(|entry| entry.name).collect()
    };
    Ok(match word {
        "default" => Selection::default_tools(false).names,
        "all" => named(&|_| true),
        _ => match Toolset::ALL.iter().find(|set| set.name() == word) {
            Some(set) => named(&|entry| entry.toolset == *set),
            None if catalog::find(word).is_some() => named(&|entry| entry.name == word),
            None => return Err(unknown(word)),
        },
    })
}

fn unknown(word: &str) -> UnknownWord {
    let known =
        ["default", "all"].into_iter().chain(set_names()).chain(OPERATIONS.iter().map(|entry| entry.name));
    let word: String = word.chars().take(60).collect();
    UnknownWord { nearest: nearest(&word, known), word }
}

fn set_names() -> Vec<&'static str> {
    Toolset::ALL.iter().map(|set| set.name()).collect()
}
