//! The selection of offered tools: the setting `TAS_TOOLSETS` and read-only mode.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    hash::{Hash, Hasher},
    sync::Arc,
};

use crate::{
    service::{
        api::{
            exports::ExportTmsysRun,
            runs::{GetRun, ListRuns, StartRun, StopRuns},
            uploads::{CompleteBuildUpload, GetBuildUploadParts, InitiateBuildUpload},
        },
        operation::Operation as _,
        record_kind::RecordKind,
        tool::{Tier, ToolDefinition, Toolset},
    },
    text::{guidance::OfferedTools, most_similar},
    tools::{
        catalog::{self, ListedTool as _, Tool},
        composite::{CompositeTool as _, FindByName, SummarizeResults, UploadBuild, WaitForCompletion},
    },
};

/// The tools of the word `lean`: the fewest that find records, start tests, wait, explain results, upload, export and
/// stop. At most 14, for hosts that have many servers.
pub const LEAN_TOOLS: [&str; 9] = [
    FindByName::NAME,
    UploadBuild::NAME,
    StartRun::NAME,
    WaitForCompletion::NAME,
    SummarizeResults::NAME,
    GetRun::NAME,
    ListRuns::NAME,
    StopRuns::NAME,
    ExportTmsysRun::NAME,
];

/// The tools that are offered. The selection does not change while the server runs, and its clones share the names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    names: Arc<BTreeSet<&'static str>>,
    read_only: bool,
    has_local_files: bool,
    /// The tools that the caller is not permitted to use.
    forbidden: BTreeSet<&'static str>,
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
        let names = catalog::tools().filter(|tool| tool.tier == Tier::Core).map(|tool| tool.name).collect();
        Self { names: Arc::new(names), read_only, has_local_files: true, forbidden: BTreeSet::new() }
    }

    /// Selects all tools.
    pub fn all_tools() -> Self {
        let names = catalog::tools().map(|tool| tool.name).collect();
        Self { names: Arc::new(names), read_only: false, has_local_files: true, forbidden: BTreeSet::new() }
    }

    /// Parses a list of words, which are applied from left to right. A list that starts with an exclusion starts from
    /// the default selection.
    pub fn parse(words: &str, read_only: bool) -> Result<Self, UnknownWord> {
        let words: Vec<_> = words.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let from_default = words.first().is_none_or(|word| word.starts_with('-'));
        let mut names = if from_default { selected_by("default")? } else { BTreeSet::new() };

        for word in words {
            match word.strip_prefix('-') {
                Some(excluded) => {
                    let excluded = selected_by(excluded)?;
                    names.retain(|name| !excluded.contains(name));
                }
                None => names.extend(selected_by(word)?),
            }
        }

        Ok(Self { names: Arc::new(names), read_only, has_local_files: true, forbidden: BTreeSet::new() })
    }

    /// Returns whether the tool is offered.
    pub fn offers(&self, tool: &ToolDefinition) -> bool {
        self.names.contains(tool.name)
            && (!self.read_only || tool.effect.is_read_only())
            && (self.has_local_files || !tool.uses_local_files)
            && !self.is_forbidden(tool)
    }

    /// Returns the tool that answers calls of `tool`, if `tool` is offered. A tool that the caller is not permitted to
    /// use answers too: the call fails with the permission that is missing.
    pub fn callable(&self, tool: Tool) -> Option<Tool> {
        Some(tool).filter(|tool| self.offers(tool) || self.is_forbidden(tool))
    }

    /// Returns whether tools may read and write local files.
    pub fn has_local_files(&self) -> bool {
        self.has_local_files
    }

    fn is_forbidden(&self, tool: &ToolDefinition) -> bool {
        self.forbidden.contains(tool.name)
    }

    /// Returns the same selection for a caller who may use the tools with `is_permitted`.
    #[must_use]
    pub fn permitted_by(self, is_permitted: impl Fn(&ToolDefinition) -> bool) -> Self {
        let forbidden = catalog::tools().filter(|tool| !is_permitted(tool.info)).map(|tool| tool.name);
        Self { forbidden: forbidden.collect(), ..self }
    }

    /// Returns the same selection in read-only mode.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Returns the same selection without tools that read or write local files. The steps of an upload, in which the caller
    /// sends the file, take the place of `upload_build`.
    #[must_use]
    pub fn without_local_files(mut self) -> Self {
        if self.names.contains(UploadBuild::NAME) {
            Arc::make_mut(&mut self.names).extend([
                InitiateBuildUpload::NAME,
                GetBuildUploadParts::NAME,
                CompleteBuildUpload::NAME,
            ]);
        }
        Self { has_local_files: false, ..self }
    }

    /// Returns the selection of the tools that this selection and all `others` offer.
    #[must_use]
    pub fn narrowed_by<'a>(mut self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        for other in others {
            Arc::make_mut(&mut self.names).retain(|name| other.names.contains(name));
            self.read_only |= other.read_only;
            self.has_local_files &= other.has_local_files;
        }
        self
    }

    /// Returns the message for a call of a tool that is not offered.
    pub fn refusal(&self, tool: &ToolDefinition) -> String {
        if !self.has_local_files && tool.uses_local_files {
            return format!(
                "unknown tool: `{}` uses local files, which a server over HTTP does not",
                tool.name
            );
        }

        // A client over HTTP knows its request, and not the settings of the server.
        if !self.has_local_files {
            let reason = "the address or a header of the request, or by the server";
            return format!("unknown tool: `{}` is switched off by {reason}", tool.name);
        }
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
    pub fn tools(&self) -> impl Iterator<Item = Tool> {
        catalog::tools().filter(|tool| self.offers(tool))
    }
}

/// The number of names stands for them: each request over HTTP looks for the profile of its selection.
impl Hash for Selection {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.names.len(), self.read_only, self.has_local_files, self.forbidden.len()).hash(state);
    }
}

impl OfferedTools for Selection {
    /// Returns `find_by_name` instead of a list that it searches, if only `find_by_name` is offered.
    fn offered_name<'a>(&self, tool: &'a str) -> Option<Cow<'a, str>> {
        let is_offered = catalog::find_tool(tool).is_some_and(|tool| self.offers(tool.info));
        let is_searched = || is_source_of_ids(tool) && self.offers(&FindByName::tool());

        if is_offered { Some(tool.into()) } else { is_searched().then_some(FindByName::NAME.into()) }
    }
}

/// Returns whether texts name the list only as the source of ids that `find_by_name` finds too. The list of bugs also
/// answers which bugs there are.
fn is_source_of_ids(list: &str) -> bool {
    let kinds = RecordKind::NAMED.into_iter().filter(|kind| *kind != RecordKind::Bug);
    kinds.into_iter().any(|kind| kind.list().name == list)
}

/// Returns the names of the tools that a word selects.
fn selected_by(word: &str) -> Result<BTreeSet<&'static str>, UnknownWord> {
    let names_of = |wanted: &dyn Fn(&ToolDefinition) -> bool| -> BTreeSet<_> {
        catalog::tools().filter(|tool| wanted(tool)).map(|tool| tool.name).collect()
    };
    Ok(match word {
        "default" => names_of(&|tool| tool.tier == Tier::Core),
        "lean" => LEAN_TOOLS.into_iter().collect(),
        "all" => names_of(&|_| true),
        _ => match Toolset::ALL.iter().find(|(_, name)| *name == word) {
            Some((set, _)) => names_of(&|tool| tool.toolset == *set),
            None if catalog::find_tool(word).is_some() => names_of(&|tool| tool.name == word),
            None => return Err(unknown(word)),
        },
    })
}

fn unknown(word: &str) -> UnknownWord {
    let word: String = word.chars().take(60).collect();
    UnknownWord { nearest: most_similar(&word, words()), word }
}

/// Returns the words that select tools.
pub fn words() -> impl Iterator<Item = &'static str> {
    let names = catalog::tools().map(|tool| tool.name);
    ["default", "lean", "all"].into_iter().chain(set_names()).chain(names)
}

fn set_names() -> Vec<&'static str> {
    Toolset::ALL.iter().map(|(_, name)| *name).collect()
}
