//! The two documented forms of answers.

/// The form of the answers of a project (service.md 1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Upper-case states, platforms with `kind` and `config`, failure texts in `message`.
    Upper,
    /// Lower-case states, platforms with `type` and `device`, failure texts in `error`.
    Lower,
}

impl Dialect {
    /// Returns a state in the letter case of this dialect.
    pub(crate) fn state(self, state: &str) -> String {
        match self {
            Self::Upper => state.to_ascii_uppercase(),
            Self::Lower => state.to_ascii_lowercase(),
        }
    }
}
