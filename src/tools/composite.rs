//! Tools that are more than one request: they are built here from operations, files and time.

use std::{ops::Deref, sync::OnceLock};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::{
        operation::{Access, Effect, Tier, Toolset},
        rule::Rule,
        schema,
        tool::Tool,
    },
    tools::context::ToolContext,
};

mod download_minion;
mod download_run_files;
mod summarize_results;
mod upload_build;
mod wait_for_completion;

pub use download_minion::{DownloadMinion, platform as minion_platform};
pub use download_run_files::DownloadRunFiles;
pub use summarize_results::SummarizeResults;
pub use upload_build::{BuildUpload, UploadBuild};
pub use wait_for_completion::WaitForCompletion;

/// A tool that is built here. The struct is its arguments; its doc comment is the description that a model reads.
pub trait CompositeTool: DeserializeOwned + JsonSchema + Send + 'static {
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
    fn run(self, desk: ToolContext) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// A [`CompositeTool`] without its type.
pub struct CompositeEntry {
    /// The tool as hosts see it.
    pub tool: Tool,
    run: fn(ToolContext) -> BoxFuture<'static, Result<Value, Failure>>,
}

impl Deref for CompositeEntry {
    type Target = Tool;
    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl CompositeEntry {
    /// The entry of the tool `T`.
    pub const fn of<T: CompositeTool>() -> Self {
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
    pub async fn run(&self, desk: ToolContext) -> Result<Value, Failure> {
        (self.run)(desk).await
    }
}

impl std::fmt::Debug for CompositeEntry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.tool.fmt(formatter)
    }
}

async fn run<T: CompositeTool>(desk: ToolContext) -> Result<Value, Failure> {
    let unusable =
        |error: serde_json::Error| Failure::new(Code::InvalidArguments, format!("{}: {error}", T::NAME));
    let tool = serde_json::from_value::<T>(Value::Object(desk.arguments.clone())).map_err(unusable)?;
    let output = tool.run(desk).await?;
    serde_json::to_value(output).map_err(unusable)
}
