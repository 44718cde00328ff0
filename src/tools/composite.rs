//! Tools that this program builds from several operations, local files and time.

use std::ops::Deref;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    failure::{Code, Failure},
    service::tool::{Tool, ToolInfo},
    tools::context::ToolContext,
};

mod download_minion;
mod download_run_files;
mod find_by_name;
mod summarize_results;
mod upload_build;
mod upload_remote_build;
mod wait_for_completion;

pub use download_minion::{DownloadMinion, platform as minion_platform};
pub use download_run_files::DownloadRunFiles;
pub use find_by_name::FindByName;
pub use summarize_results::SummarizeResults;
pub use upload_build::{UploadBuild, UploadBuildAnswer};
pub use upload_remote_build::UploadRemoteBuild;
pub use wait_for_completion::WaitForCompletion;

/// A composite tool.
///
/// The implementing struct is the arguments of the tool. Its doc comment is the description that a model reads.
pub trait CompositeTool: DeserializeOwned + JsonSchema + Send + 'static {
    /// Properties of the tool.
    const TOOL: ToolInfo;
    /// Name of the tool.
    const NAME: &'static str = Self::TOOL.name;

    /// The answer.
    type Answer: Serialize + JsonSchema + 'static;

    /// Runs the tool. Dropping the future cancels the tool.
    fn run(self, context: ToolContext) -> impl Future<Output = Result<Self::Answer, Failure>> + Send;
}

/// A [`CompositeTool`] without its Rust type. Dereferences to its tool.
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
    pub const fn new<T: CompositeTool>() -> Self {
        Self { tool: Tool::new::<T, T::Answer>(T::TOOL, false), run: |context| Box::pin(run::<T>(context)) }
    }

    /// Runs the tool with the checked arguments of `context`.
    ///
    /// # Errors
    /// Every failure of the tool.
    pub async fn run(&self, context: ToolContext) -> Result<Value, Failure> {
        (self.run)(context).await
    }
}

impl std::fmt::Debug for CompositeEntry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.tool.fmt(formatter)
    }
}

async fn run<T: CompositeTool>(context: ToolContext) -> Result<Value, Failure> {
    let conversion_failure =
        |error: serde_json::Error| Failure::new(Code::InvalidArguments, format!("{}: {error}", T::NAME));
    serde_json::to_value(run_typed::<T>(context).await?).map_err(conversion_failure)
}

/// Runs the tool `T` with the checked arguments of `context`, and returns its typed output.
///
/// # Errors
/// Every failure of the tool.
pub(super) async fn run_typed<T: CompositeTool>(context: ToolContext) -> Result<T::Answer, Failure> {
    let arguments = Value::Object(context.arguments.clone());
    let tool = serde_json::from_value::<T>(arguments)
        .map_err(|error| Failure::new(Code::InvalidArguments, format!("{}: {error}", T::NAME)))?;
    tool.run(context).await
}
