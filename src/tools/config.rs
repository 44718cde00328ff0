//! Configuration of the tools.

use crate::{call::CallConfig, tools::upload::FilesConfig};

/// Configuration of the tools.
#[derive(Debug)]
pub struct ToolsConfig {
    /// Calls of operations.
    pub call: CallConfig,
    /// Local files.
    pub files: FilesConfig,
}
