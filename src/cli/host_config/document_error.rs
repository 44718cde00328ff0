//! Why a configuration text cannot be changed.

use crate::toml_text::TomlTextError;

/// Reason for which a text is left as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum DocumentError {
    /// The text is not valid JSON. The reason names the line.
    #[error("it is not valid: {0}")]
    Syntax(String),
    /// The text is not valid TOML.
    #[error(transparent)]
    Toml(#[from] TomlTextError),
    /// A host would read only one of two fields with the same name.
    #[error("it contains `{0}` twice")]
    Duplicate(String),
    /// The entry cannot be added where something else is.
    #[error("`{0}` is not an object")]
    NotAnObject(String),
    /// The whole text is an array or another value.
    #[error("it does not contain an object")]
    NoObject,
    /// The changed text does not contain what it should.
    #[error("its form is not supported")]
    Unsupported,
}
