//! What tools work with, and one call of a tool.

use std::sync::Arc;

use crate::{
    call::{Caller, arguments::ToolArguments},
    clock::Clock,
    tools::{call_options::CallOptions, config::ToolsConfig, upload::FileServices},
};

/// A caller, and the services of the tools that read or write local files. The clones share what they remember.
#[derive(Clone, Debug)]
pub struct CallerWithFiles {
    /// Calls operations of the service.
    pub caller: Caller,
    /// Files root, storage client and active uploads.
    pub files: Arc<FileServices>,
}

impl CallerWithFiles {
    /// Creates what the configuration describes.
    pub fn new(config: ToolsConfig) -> Self {
        let ToolsConfig { call, files } = config;
        Self { caller: Caller::new(call), files: Arc::new(FileServices::new(files)) }
    }

    /// Returns the same with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { caller: self.caller.with_clock(clock), ..self }
    }

    /// Returns a call of a tool.
    pub fn tool_call(&self, arguments: ToolArguments, options: CallOptions) -> ToolCall {
        let Self { caller, files } = self.clone();
        ToolCall { caller, files, arguments, options }
    }
}

/// One call of a tool, with what the tool works with.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Calls operations of the service.
    pub caller: Caller,
    /// Files root, storage client and active uploads.
    pub files: Arc<FileServices>,
    /// The arguments, not checked yet.
    pub arguments: ToolArguments,
    /// What the host or the command offers to the call.
    pub options: CallOptions,
}

/// What a composite tool works with. Its arguments are in the tool itself.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Calls operations of the service.
    pub caller: Caller,
    /// Files root, storage client and active uploads.
    pub files: Arc<FileServices>,
    /// The project that the arguments name, if any.
    pub project: Option<String>,
    /// Whether a user has agreed to a call that is irreversible or costly.
    pub is_confirmed: bool,
    /// Whether the requests that change something are shown instead of sent.
    pub is_dry_run: bool,
    /// What the host or the command offers to the call.
    pub options: CallOptions,
}
