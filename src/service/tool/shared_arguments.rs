//! The arguments that tools have in common: their names, and their descriptions, which a model reads in every tool.

/// Argument of every tool in global scope. Project scope accepts the argument too, to refuse another project.
pub const PROJECT_ID: &str = "project_id";

/// Description of [`PROJECT_ID`].
pub const PROJECT_ID_DESCRIPTION: &str = "Project, if no id decides it.";

/// Argument of tools whose calls may be irreversible or costly: a person has agreed to the call.
pub const CONFIRM: &str = "confirm";

/// Description of [`CONFIRM`].
pub const CONFIRM_DESCRIPTION: &str = "True if a person agreed.";

/// Argument of tools that read: the wanted fields of the answer, as dotted names separated by commas.
pub const FIELDS: &str = "fields";

/// Description of [`FIELDS`].
pub const FIELDS_DESCRIPTION: &str = "Such as `id,test.name`.";
