//! The declaration of the tasks extension.

use rmcp::model::{JsonObject, ServerCapabilities, TASKS_EXTENSION_ID};

/// The methods of the extension.
pub(in crate::mcp) const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

/// Declares the extension.
pub(in crate::mcp) fn declare(capabilities: &mut ServerCapabilities) {
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
}

/// Removes the declaration, for hosts that begin with `initialize`.
pub(in crate::mcp) fn withdraw(capabilities: &mut ServerCapabilities) {
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.remove(TASKS_EXTENSION_ID);
    }
}
