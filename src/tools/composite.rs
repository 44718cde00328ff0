//! Tools that this program builds from several operations, local files and time.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{failure::Failure, service::tool::ToolInfo, tools::context::ToolContext};

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
