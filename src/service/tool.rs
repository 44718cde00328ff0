//! Tools: their properties and their schemas.
//!
//! A tool is one operation of the service, or a composite tool that sends several requests. Both state their
//! properties in a [`ToolInfo`].

mod access;
mod column;
mod definition;
mod effect;
mod info;
mod shared_arguments;
mod toolset;

pub use access::Access;
pub use column::{Column, ColumnFormat};
pub use definition::Tool;
pub use effect::Effect;
pub use info::{ConfirmationQuestion, FailureHints, ToolInfo};
pub use shared_arguments::{
    CONFIRM, CONFIRM_DESCRIPTION, FIELDS, FIELDS_DESCRIPTION, PROJECT_ID, PROJECT_ID_DESCRIPTION,
};
pub use toolset::{Tier, Toolset};
