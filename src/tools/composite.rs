//! Tools that this program builds from several operations, local files and time.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    failure::{Code, Failure},
    service::tool::ToolInfo,
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

/// Runs the tool `T` with the checked arguments of `context`, and returns its answer as JSON.
///
/// # Errors
/// Every failure of the tool.
pub(super) async fn answer_value<T: CompositeTool>(context: ToolContext) -> Result<Value, Failure> {
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
