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
        WaitForCompletion,
    },
};

/// `upload_build`
pub static UPLOAD_BUILD: CompositeEntry = CompositeEntry::new::<UploadBuild>();

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

/// A tool of the list, with its implementation. Dereferences to the tool.
#[derive(Clone, Copy, Debug)]
pub enum ToolEntry {
    /// One request to the service.
    Operation(&'static OperationEntry),
    /// A tool that sends several requests, waits, or uses local files.
    Composite(&'static CompositeEntry),
}

impl ToolEntry {
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
