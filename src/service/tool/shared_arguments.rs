//! Names of the arguments that tools have in common.

/// Argument of every tool in global scope. Project scope accepts the argument too, to refuse another project.
pub const PROJECT_ID: &str = "project_id";

/// Argument of tools whose calls may be irreversible or costly: a person has agreed to the call.
pub const CONFIRM: &str = "confirm";

/// Argument of tools that read: the wanted fields of the answer, as dotted names separated by commas.
pub const FIELDS: &str = "fields";
