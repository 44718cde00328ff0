//! How to find out whether an earlier call took effect.
//!
//! If the outcome of a call is unknown, an equal call is sent only after the service has been asked whether the earlier
//! call took effect. A check states how to ask.

/// One way to find the result of an earlier call.
#[derive(Clone, Copy, Debug)]
pub struct DuplicateCheck {
    /// The check applies to calls with this argument. `None`: to every call.
    pub when_given: Option<&'static str>,
    /// The way to ask the service.
    pub probe: Probe,
    /// What the caller does with the result of the earlier call, or if the service cannot be asked.
    pub advice: &'static str,
}

/// The way to ask the service whether a call took effect.
#[derive(Clone, Copy, Debug)]
pub enum Probe {
    /// Search a list for a matching record.
    List(ListProbe),
    /// Send the call again with another argument. The service then returns an existing result, and acts only if there
    /// is none.
    Repeat {
        /// The argument to change.
        argument: &'static str,
        /// The value of the argument.
        value: bool,
        /// The field of the answer that is true if the result existed before.
        found: &'static str,
    },
    /// The service does not show results of this kind. The text names the result.
    Unavailable(&'static str),
}

/// A list, and the records in it that a call may have created.
#[derive(Clone, Copy, Debug)]
pub struct ListProbe {
    /// Name of the operation that lists.
    pub list: &'static str,
    /// Arguments of the call that filter the list too.
    pub filters: &'static [&'static str],
    /// Arguments that sort the newest records first, if the list has such arguments.
    pub newest_first: &'static [(&'static str, &'static str)],
    /// Fields that a record has in common with the call that created it.
    pub matches: &'static [FieldMatch],
    /// The field with the creation time of a record, if there is one.
    pub created_at: Option<&'static str>,
    /// The fields of a record that are shown to the caller. The first one is its id.
    pub shown_fields: &'static [&'static str],
}

/// A field of a record that holds the value of an argument of the call.
#[derive(Clone, Copy, Debug)]
pub struct FieldMatch {
    /// Field of the record.
    pub field: &'static str,
    /// Argument of the call. Dots separate the names of nested fields.
    pub argument: &'static str,
    /// Value of the argument if it is absent.
    pub default: Option<&'static str>,
    /// Value that `null` in the record stands for. `None`: `null` matches only an absent argument.
    pub null_value: Option<&'static str>,
}

impl FieldMatch {
    /// The field `field` holds the value of the argument `argument`.
    pub const fn new(field: &'static str, argument: &'static str) -> Self {
        Self { field, argument, default: None, null_value: None }
    }

    /// Sets the value of an absent argument.
    #[must_use]
    pub const fn or_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Sets the value of an absent argument and of a field that is `null`.
    #[must_use]
    pub(crate) const fn or_null(self, default: &'static str) -> Self {
        Self { null_value: Some(default), ..self.or_default(default) }
    }
}
