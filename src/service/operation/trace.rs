//! Where something is seen that a call may have made.
//!
//! When nobody knows whether a call happened, an equal one looks here before it is sent.

/// A place to look at.
#[derive(Clone, Copy, Debug)]
pub struct DuplicateCheck {
    /// The argument that marks the calls which leave this trace; `None`: any call.
    pub with: Option<&'static str>,
    /// How to look.
    pub look: Probe,
    /// What to do about what is found, or instead of looking.
    pub advice: &'static str,
}

/// How to look whether a call happened.
#[derive(Clone, Copy, Debug)]
pub enum Probe {
    /// In a list of what there is.
    List(ListProbe),
    /// The call itself, with another argument, answers with what there is, and does what was asked for only where there
    /// is nothing.
    Again {
        /// The argument.
        argument: &'static str,
        /// Its value.
        value: bool,
        /// The field of the answer that is true when there was something.
        found: &'static str,
    },
    /// The service shows nothing of this.
    Nowhere(&'static str),
}

/// A list, and which of its records a call may have made.
#[derive(Clone, Copy, Debug)]
pub struct ListProbe {
    /// Name of the operation that lists.
    pub list: &'static str,
    /// Arguments that the list takes as the call does.
    pub narrowed: &'static [&'static str],
    /// Arguments that put the newest records first, where the list has such.
    pub newest_first: &'static [(&'static str, &'static str)],
    /// What a record has in common with the call that made it.
    pub same: &'static [FieldMatch],
    /// The field that says when a record was made, where there is one.
    pub made: Option<&'static str>,
    /// The fields of a record by which a caller knows it.
    pub told: &'static [&'static str],
}

/// A field of a record that holds what an argument of the call said.
#[derive(Clone, Copy, Debug)]
pub struct FieldMatch {
    /// Field of the record.
    pub field: &'static str,
    /// Argument of the call, with dots for what lies deeper.
    pub argument: &'static str,
    /// What the argument is when it is not given.
    pub default: Option<&'static str>,
    /// What null means in the record; `None`: nothing.
    pub null: Option<&'static str>,
}

impl FieldMatch {
    /// The field says what the argument says.
    pub const fn of(field: &'static str, argument: &'static str) -> Self {
        Self { field, argument, default: None, null: None }
    }

    /// The argument is this when it is not given.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The argument is this when it is not given, and so is the field when it is null.
    #[must_use]
    pub const fn or_null(self, default: &'static str) -> Self {
        Self { null: Some(default), ..self.or(default) }
    }
}
