//! Finds a tool by the name that a user typed.

use crate::{
    failure::{Code, Failure},
    tools::catalog::{self, Tool},
};

/// Returns the tool with this name.
///
/// # Errors
/// `invalid_arguments` with the most similar name.
pub(super) fn find_tool(name: &str) -> Result<Tool, Failure> {
    catalog::find_tool(name).ok_or_else(|| {
        let failure = Failure::new(Code::InvalidArguments, format!("there is no tool `{name}`"));
        match catalog::nearest_name(name) {
            Some(nearest) => failure.hint(format!("did you mean `{nearest}`?")),
            None => failure.hint("`tas-mcp tools` lists the tools"),
        }
    })
}
