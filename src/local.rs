//! Tools that are more than one request: they are built here from operations, files and time.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    failure::{Code, Failure},
    gateway::Gateway,
    operation::{Access, Effect, Fields, Tier, Toolset},
    rule::Rule,
    schema,
    tool::Tool,
};

mod counter;
mod download_minion;
mod download_run_files;
mod summarize_results;
mod upload_build;
mod wait_for_completion;

pub(crate) use counter::Counter;
pub use download_minion::{DownloadMinion, platform as minion_platform};
pub use download_run_files::DownloadRunFiles;
pub use summarize_results::SummarizeResults;
pub use upload_build::{BuildUpload, UploadBuild};
pub use wait_for_completion::WaitForCompletion;

/// The tools, in the order in which hosts list them, after the operations.
pub static LOCAL: [Local; 5] = [
    Local::of::<UploadBuild>(),
    Local::of::<WaitForCompletion>(),
    Local::of::<SummarizeResults>(),
    Local::of::<DownloadRunFiles>(),
    Local::of::<DownloadMinion>(),
];

/// A tool that is built here. The struct is its arguments; its doc comment is the description that a model reads.
pub trait LocalTool: DeserializeOwned + JsonSchema + Send + 'static {
    /// Name of the tool.
    const NAME: &'static str;
    /// Title for people.
    const TITLE: &'static str;
    /// What calling it does to the service.
    const EFFECT: Effect;
    /// Set of tools that it belongs to.
    const TOOLSET: Toolset;
    /// Whether it is offered by default.
    const TIER: Tier;
    /// What the key has to allow.
    const ACCESS: Access;
    /// Rules between its arguments.
    const RULES: &'static [Rule] = &[];
    /// What to do when nobody knows whether a call happened.
    const IN_DOUBT: Option<&'static str> = None;
    /// For arguments that are irreversible or costly: what would happen, for a person to agree to first.
    const CONFIRM: Option<fn(&Fields) -> Option<String>> = None;
    /// Fields that every answer has.
    const ESSENTIAL: &'static [&'static str] = &[];
    /// Whether hosts that show pages have one for the answer.
    const VIEW: bool = false;
    /// What it answers.
    type Output: Serialize + JsonSchema + 'static;

    /// Does it. Dropping the future ends it.
    fn run(self, desk: Desk) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// What a tool works with.
#[derive(Clone, Debug)]
pub struct Desk {
    /// The way to the service.
    pub gateway: Gateway,
    /// The checked arguments, without those that all tools have.
    pub arguments: Fields,
    /// Project that the caller named.
    pub project: Option<String>,
    /// Who called.
    pub audience: Audience,
}

/// Who called, and how long it waits.
#[derive(Clone, Debug)]
pub struct Audience {
    /// Wants to know how far it has come.
    pub watcher: Arc<dyn Watcher>,
    /// How long it waits for an answer; `None`: to the end, zero: for one look.
    pub patience: Option<Duration>,
    /// Is cancelled when it is not the caller that goes, but the process.
    pub leaving: CancellationToken,
}

impl Audience {
    /// Waits to the end without a word.
    pub fn silent() -> Self {
        Self { watcher: Arc::new(Unwatched), patience: None, leaving: CancellationToken::new() }
    }

    /// How long a call may last: somebody who sees it go on waits for as long as was asked.
    pub fn limit(&self) -> Option<Duration> {
        self.patience.filter(|_| !self.watcher.is_there())
    }
}

/// Is told how far a call has come.
pub trait Watcher: std::fmt::Debug + Send + Sync {
    /// `done` of `total`, and what a person reads. Called at most once a second, each time with more than before.
    fn progress(&self, done: u64, total: u64, told: &str);

    /// The service asks to be left alone for so long.
    fn rest(&self, _: Duration) {}

    /// Whether anybody sees it.
    fn is_there(&self) -> bool {
        true
    }
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn progress(&self, _: u64, _: u64, _: &str) {}

    fn is_there(&self) -> bool {
        false
    }
}

/// A [`LocalTool`] without its type.
pub struct Local {
    pub(crate) tool: Tool,
    run: fn(Desk) -> BoxFuture<'static, Result<Value, Failure>>,
}

impl Deref for Local {
    type Target = Tool;
    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl Local {
    const fn of<T: LocalTool>() -> Self {
        Self {
            tool: Tool {
                name: T::NAME,
                title: T::TITLE,
                effect: T::EFFECT,
                toolset: T::TOOLSET,
                tier: T::TIER,
                access: T::ACCESS,
                rules: T::RULES,
                own_rules: &[],
                essential: T::ESSENTIAL,
                confirm: T::CONFIRM,
                in_doubt: T::IN_DOUBT,
                takes_fields: T::EFFECT.is_read_only(),
                has_pictures: false,
                has_view: T::VIEW,
                input: schema::input::<T>,
                output: schema::output::<T::Output>,
                schemas: OnceLock::new(),
            },
            run: |desk| Box::pin(run::<T>(desk)),
        }
    }

    /// Does it, with checked arguments.
    pub async fn run(&self, desk: Desk) -> Result<Value, Failure> {
        (self.run)(desk).await
    }
}

impl std::fmt::Debug for Local {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.tool.fmt(formatter)
    }
}

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static Local> {
    LOCAL.iter().find(|local| local.name == name)
}

async fn run<T: LocalTool>(desk: Desk) -> Result<Value, Failure> {
    let unusable =
        |error: serde_json::Error| Failure::new(Code::InvalidArguments, format!("{}: {error}", T::NAME));
    let tool = serde_json::from_value::<T>(Value::Object(desk.arguments.clone())).map_err(unusable)?;
    let output = tool.run(desk).await?;
    serde_json::to_value(output).map_err(unusable)
}
