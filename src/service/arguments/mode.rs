//! The strictness of a check.

/// How strictly values are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Arguments of a caller. Values are coerced, `null` counts as absent, unknown names are violations.
    Arguments,
    /// Text of a query. Values are coerced, unknown names are ignored.
    Query,
    /// An object in the arguments of a caller that is sent unchanged. Nothing is coerced. An unknown name is left to the
    /// service, unless it nearly is a known name: the service would ignore the misspelled field.
    PassedThrough,
    /// A JSON body as the service reads it. Nothing is coerced, unknown names are ignored.
    Body,
    /// A JSON body of an operation that refuses unknown names. Nothing is coerced.
    ClosedBody,
}

impl Mode {
    /// Returns whether values are coerced to the type of the schema.
    pub(super) const fn coerces(self) -> bool {
        matches!(self, Self::Arguments | Self::Query)
    }

    /// Returns whether unknown names are violations.
    pub(super) const fn denies_unknown_names(self) -> bool {
        matches!(self, Self::Arguments | Self::ClosedBody)
    }
}
