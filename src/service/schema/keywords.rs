//! Keywords of input schemas that are not published.

/// The value may also have this JSON type.
pub const OR_TYPE: &str = "x-or-type";

/// Schema of the known fields of an object that is sent unchanged. Arguments are checked against the schema. The
/// published schema is an object with any fields.
pub const KNOWN: &str = "x-known";

/// Surrounding quotes are removed from the text.
pub(in crate::service) const UNQUOTED: &str = "x-unquoted";

/// Only the type and the description of the argument are published. Another tool publishes its full schema.
pub(super) const SHORT: &str = "x-short";

/// The argument is not published. The description of the tool, or of a tool that it refers to, mentions the argument.
pub const HIDDEN: &str = "x-hidden";

/// Keywords that only the check of arguments reads.
pub(super) const INTERNAL: [&str; 12] = [
    OR_TYPE,
    UNQUOTED,
    SHORT,
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "default",
];
