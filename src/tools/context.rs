//! The services and arguments of one call of a composite tool.

use std::sync::Arc;

use crate::{
    call::Gateway,
    fields::Fields,
    tools::{call_options::CallOptions, upload::FileServices},
};

/// The services and arguments of one call of a composite tool.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Calls operations of the service.
    pub gateway: Gateway,
    /// Files root, storage client and active uploads.
    pub files: Arc<FileServices>,
    /// The checked arguments, without the arguments that all tools have.
    pub arguments: Fields,
    /// The project that the caller passed, if any.
    pub project: Option<String>,
    /// What the other side of the call offers.
    pub options: CallOptions,
}
