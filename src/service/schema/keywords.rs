//! Keywords of input schemas that are not published.

/// The value may also have this JSON type.
pub const OR_TYPE: &str = "x-or-type";

/// Schema of the known fields of an object that is sent unchanged. Arguments are checked against the schema. The
/// published schema is an object with any fields.
pub const KNOWN: &str = "x-known";

/// Surrounding quotes are removed from the text.
pub(in crate::service) const UNQUOTED: &str = "x-unquoted";

/// Keywords that only the check of arguments reads. Some hosts refuse `format` and `uniqueItems`.
pub(super) const INTERNAL: [&str; 4] = [OR_TYPE, UNQUOTED, "format", "uniqueItems"];
