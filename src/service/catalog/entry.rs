//! An operation without its Rust type.

use std::{
    fmt::{Debug, Formatter},
    ops::Deref,
};

use crate::{
    fields::Fields,
    service::{
        operation::{Operation, RequestInfo},
        tool::Tool,
    },
};

/// An [`Operation`] without its Rust type. Dereferences to its tool.
pub struct OperationEntry {
    /// The operation as a tool.
    pub tool: Tool,
    /// Properties of the HTTP request.
    pub request: RequestInfo,
}

impl OperationEntry {
    /// The entry of the operation `O`.
    pub(super) const fn new<O: Operation>() -> Self {
        let request = O::REQUEST;
        Self { tool: Tool::new::<O, O::Answer>(O::TOOL, request.has_pictures()), request }
    }

    /// Returns whether a call with these arguments may be sent twice with the same result.
    pub fn is_repeatable(&self, arguments: &Fields) -> bool {
        self.effect.is_read_only() || (self.request.is_repeatable)(arguments)
    }
}

impl Deref for OperationEntry {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        &self.tool
    }
}

impl Debug for OperationEntry {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OperationEntry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An operation that is in the list of operations.
pub trait ListedOperation: Operation {
    /// Returns the entry of the operation.
    fn entry() -> &'static OperationEntry;
}
