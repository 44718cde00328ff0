//! What a composite tool works with.

use std::sync::Arc;

use crate::{
    call::gateway::Gateway,
    fields::Fields,
    tools::{caller::CallerContext, upload::FileServices},
};

/// What a tool works with.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Calls operations of the service.
    pub gateway: Gateway,
    /// Files root, storage client and uploads under way.
    pub files: Arc<FileServices>,
    /// The checked arguments, without those that all tools have.
    pub arguments: Fields,
    /// Project that the caller named.
    pub project: Option<String>,
    /// Who called.
    pub audience: CallerContext,
}
