//! The list of all tools: the operations of the service, followed by the composite tools.

use std::ops::Deref;

use crate::{
    service::{
        catalog::{self, OPERATIONS, OperationEntry},
        tool::Tool,
    },
    text::most_similar,
    tools::composite::{
        CompositeEntry, DownloadMinion, DownloadRunFiles, FindByName, SummarizeResults, UploadBuild,
        UploadRemoteBuild, WaitForCompletion,
    },
};

/// `upload_build`
pub static UPLOAD_BUILD: CompositeEntry = CompositeEntry::new::<UploadBuild>();

/// `upload_build` of servers without local files
static UPLOAD_REMOTE_BUILD: CompositeEntry = CompositeEntry::new::<UploadRemoteBuild>();

/// `wait_for_completion`
pub static WAIT_FOR_COMPLETION: CompositeEntry = CompositeEntry::new::<WaitForCompletion>();

/// `summarize_results`
pub static SUMMARIZE_RESULTS: CompositeEntry = CompositeEntry::new::<SummarizeResults>();

/// `download_run_files`
pub static DOWNLOAD_RUN_FILES: CompositeEntry = CompositeEntry::new::<DownloadRunFiles>();

/// `download_minion`
pub static DOWNLOAD_MINION: CompositeEntry = CompositeEntry::new::<DownloadMinion>();

/// `find_by_name`
pub static FIND_BY_NAME: CompositeEntry = CompositeEntry::new::<FindByName>();

/// The composite tools, in the order in which hosts list them.
static COMPOSITE_TOOLS: [&CompositeEntry; 6] = [
    &FIND_BY_NAME,
    &UPLOAD_BUILD,
    &WAIT_FOR_COMPLETION,
    &SUMMARIZE_RESULTS,
    &DOWNLOAD_RUN_FILES,
    &DOWNLOAD_MINION,
];

/// The tools that servers without local files offer in place of tools of the same name.
static REMOTE_TOOLS: [&CompositeEntry; 1] = [&UPLOAD_REMOTE_BUILD];

/// A tool of the list, with its implementation. Dereferences to the tool.
#[derive(Clone, Copy, Debug)]
pub enum ToolEntry {
    /// One request to the service.
    Operation(&'static OperationEntry),
    /// A tool that sends several requests, waits, or uses local files.
    Composite(&'static CompositeEntry),
}

impl ToolEntry {
    /// Returns the tool that a server without local files offers under the same name; `None` if it offers none.
    pub fn without_local_files(self) -> Option<Self> {
        if self.tool().uses_local_files { remote_tool(self.tool().name) } else { Some(self) }
    }

    /// Returns whether servers without local files offer this tool in place of another one.
    pub fn is_remote(self) -> bool {
        remote_tool(self.name).is_some_and(|remote| std::ptr::eq(remote.tool(), self.tool()))
    }

    /// Returns the tool as hosts see it.
    pub fn tool(self) -> &'static Tool {
        match self {
            Self::Operation(entry) => &entry.tool,
            Self::Composite(entry) => &entry.tool,
        }
    }
}

impl Deref for ToolEntry {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        self.tool()
    }
}

/// Returns the tool that takes the place of the tool `name` on servers without local files.
pub(super) fn remote_tool(name: &str) -> Option<ToolEntry> {
    REMOTE_TOOLS.into_iter().find(|entry| entry.tool.name == name).map(ToolEntry::Composite)
}

/// Returns all tools, in the order in which hosts list them.
pub fn tools() -> impl Iterator<Item = ToolEntry> {
    let operations = OPERATIONS.iter().map(ToolEntry::Operation);
    operations.chain(COMPOSITE_TOOLS.into_iter().map(ToolEntry::Composite))
}

/// Returns the tool with the name `name`.
pub fn find_tool(name: &str) -> Option<ToolEntry> {
    let composite =
        || COMPOSITE_TOOLS.into_iter().find(|entry| entry.tool.name == name).map(ToolEntry::Composite);
    catalog::find(name).map(ToolEntry::Operation).or_else(composite)
}

/// Returns the name of the tool that is most similar to `name`.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    most_similar(name, tools().map(|entry| entry.tool().name))
}
