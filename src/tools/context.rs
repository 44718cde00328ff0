//! What tools work with, one call of a tool, and what the host or the command that calls it offers: the time that it waits, a
//! receiver of progress messages, and the end of the process.

use std::{fmt::Debug, path::PathBuf, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    call::{CallConfig, Caller, ToolArguments},
    client::{AddressPolicy, StorageClient},
    clock::Clock,
    failure::Failure,
    text::guidance::{AllTools, OfferedTools},
    tools::{
        files::FilesRoot,
        upload::{UploadTiming, origin::BuildOrigin},
    },
};

/// Configuration of the tools.
#[derive(Debug)]
pub struct ToolsConfig {
    /// Calls of operations.
    pub call: CallConfig,
    /// Local files.
    pub files: FilesConfig,
}

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
#[expect(missing_docs, reason = "the types describe the other fields")]
pub struct ToolCall {
    pub caller: Caller,
    pub files: Arc<FileServices>,
    /// The arguments, not checked yet.
    pub arguments: ToolArguments,
    pub options: CallOptions,
}

/// What a composite tool works with. Its arguments are in the tool itself.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the types describe the other fields")]
pub struct ToolContext {
    pub caller: Caller,
    pub files: Arc<FileServices>,
    /// The project that the arguments name, if any.
    pub project: Option<String>,
    /// Whether a user has agreed to a call that is irreversible or costly.
    pub is_confirmed: bool,
    /// Whether the requests that change something are shown instead of sent.
    pub is_dry_run: bool,
    pub options: CallOptions,
}

/// What the host, or the command, that calls a tool offers to the call.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// Receives the progress of the call.
    pub progress: Arc<dyn ProgressSink>,
    /// Maximum duration of a call before it returns an intermediate answer. `None`: no limit. Zero: one poll.
    pub wait_limit: Option<Duration>,
    /// Whether the reply has links to files, because the host shares no files with this process.
    pub gets_links: bool,
    /// The tools that the texts of the answer may name.
    pub tools: Arc<dyn OfferedTools>,
    /// The end of the process.
    pub stopping: Stopping,
}

/// The end of a process, in two stages. Neither happens when only the host disconnects.
#[derive(Clone, Debug, Default)]
pub struct Stopping {
    /// Cancelled when waits shall end with an intermediate answer.
    pub waits: CancellationToken,
    /// Cancelled when every call ends.
    pub calls: CancellationToken,
}

impl CallOptions {
    /// Returns the options of a call without progress and without a limit, whose texts may name all tools.
    pub fn silent() -> Self {
        Self {
            progress: Arc::new(NoProgress),
            wait_limit: None,
            gets_links: false,
            tools: Arc::new(AllTools),
            stopping: Stopping::default(),
        }
    }
}

/// Receives the progress of a call.
pub trait ProgressSink: Debug + Send + Sync {
    /// Reports that `done` of `total` units are complete, with a text for users. Called at most once per second. What has to be
    /// done again takes `done` back.
    fn report(&self, done: u64, total: u64, message: &str);

    /// Returns whether the messages of a wait shall contain the steps of the players, which takes further requests.
    fn shows_steps(&self) -> bool {
        false
    }

    /// Returns whether anybody receives the progress.
    fn is_observed(&self) -> bool {
        true
    }
}

/// A sink that ignores all progress.
#[derive(Clone, Copy, Debug)]
struct NoProgress;

impl ProgressSink for NoProgress {
    fn report(&self, _: u64, _: u64, _: &str) {}

    fn is_observed(&self) -> bool {
        false
    }
}

/// Configuration of the tools that read or write local files.
#[derive(Debug, Default)]
pub struct FilesConfig {
    /// The files root, if one is set; or the failure of the calls that need it.
    pub root: Option<Result<FilesRoot, Failure>>,
    /// Directory in which unfinished uploads are recorded; `None` if they are not recorded.
    pub state: Option<PathBuf>,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The origin of the builds that this process uploads.
    pub origin: BuildOrigin,
    /// Pauses and time limits of uploads.
    pub timing: UploadTiming,
    /// Which addresses for parts and files are used that the service names.
    pub address_policy: AddressPolicy,
    /// File of the API key, which is never uploaded.
    pub key_file: Option<PathBuf>,
}

/// Services that the tools for local files share.
#[derive(Debug)]
pub struct FileServices {
    pub(super) config: FilesConfig,
    /// Client for presigned addresses.
    pub storage: Arc<StorageClient>,
}

impl FileServices {
    pub(crate) fn new(config: FilesConfig) -> Self {
        let storage = Arc::new(StorageClient::new(config.ca_file.clone(), config.address_policy));
        Self { config, storage }
    }

    pub(crate) fn origin(&self) -> &BuildOrigin {
        &self.config.origin
    }

    /// Returns the files root for tools: the configured root, or the working directory.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory is unsuitable as a root.
    pub(crate) fn root(&self) -> Result<FilesRoot, Failure> {
        let root = self.config.root.clone().unwrap_or_else(FilesRoot::working_directory)?;
        Ok(root.refusing(self.config.key_file.clone()))
    }

    /// Returns the files root for a user at the command line: the configured root, or the working directory without
    /// confinement.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory cannot be opened.
    pub(crate) fn root_for_user(&self) -> Result<FilesRoot, Failure> {
        let root = self.config.root.clone().unwrap_or_else(FilesRoot::unconfined_working_directory)?;
        Ok(root.refusing(self.config.key_file.clone()))
    }
}
