//! model/dialect.

/// Which of the documented forms the answers of a project have (supplement 1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Upper-case states, platforms with `kind` and `config`, failure texts in `message`.
    Upper,
    /// Lower-case states, platforms with `type` and `device`, failure texts in `error`.
    Lower,
}

impl Dialect {
    /// A state as this project writes it.
    pub(crate) fn state(self, state: &str) -> String {
        match self {
            Self::Upper => state.to_ascii_uppercase(),
            Self::Lower => state.to_ascii_lowercase(),
        }
    }
}
