//! The properties of a tool.

use crate::{
    fields::Fields,
    service::{
        rule::Rule,
        tool::{Access, Column, Effect, Tier, Toolset},
    },
};

/// Returns the text of the confirmation question for calls that are irreversible or costly, and `None` for other
/// calls. The arguments are those of the call.
pub type ConfirmationQuestion = fn(&Fields) -> Option<String>;

/// The properties of a tool that are stated in the source, not generated.
///
/// A new property is one field here, its default in `ToolInfo::new`, and one builder method.
#[derive(Clone, Copy, Debug)]
pub struct ToolInfo {
    /// Unique name. For an operation it is the `operationId` of the contract.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// Effect of a call.
    pub effect: Effect,
    /// Set of tools that the tool belongs to.
    pub toolset: Toolset,
    /// Whether the tool is offered by default.
    pub tier: Tier,
    /// What the API key must allow.
    pub access: Access,
    /// Rules of the service that a schema cannot express.
    pub rules: &'static [Rule],
    /// Rules of this program. The service accepts a call that breaks them, but ignores a part of its arguments.
    pub own_rules: &'static [Rule],
    /// Fields that every answer has. An answer without one of them is reported as a bad response.
    pub required_fields: &'static [&'static str],
    /// Columns in which people see the records of a list. Without columns, they see every plain field.
    pub columns: &'static [Column],
    /// What a caller does after some failures.
    pub failure_hints: FailureHints,
    /// The question that a person must answer before an irreversible or costly call.
    pub confirmation_question: Option<ConfirmationQuestion>,
    /// Whether hosts that display HTML have a page for the answer.
    pub has_view: bool,
    /// Whether the tool reads or writes files of the machine on which this program runs.
    pub uses_local_files: bool,
}

/// What a caller does after a failure of a tool, where the kind of the failure alone does not say it.
#[derive(Clone, Copy, Debug, Default)]
pub struct FailureHints {
    /// How to find out what happened, if the outcome of a call is unknown.
    pub recovery: Option<&'static str>,
    /// What still works if the key lacks the permission, or the project lacks the feature.
    pub access: Option<&'static str>,
    /// What to do if a record that the call names does not exist.
    pub not_found: Option<&'static str>,
}

impl ToolInfo {
    const fn new(name: &'static str, title: &'static str, toolset: Toolset, effect: Effect) -> Self {
        Self {
            name,
            title,
            effect,
            toolset,
            // Tools are not offered by default, because every listed tool costs tokens.
            tier: Tier::Extra,
            access: Access::AnyKey,
            rules: &[],
            own_rules: &[],
            required_fields: &[],
            columns: &[],
            failure_hints: FailureHints { recovery: None, access: None, not_found: None },
            confirmation_question: None,
            has_view: false,
            uses_local_files: false,
        }
    }

    /// Marks a tool that reads or writes files of the machine on which this program runs.
    #[must_use]
    pub const fn uses_local_files(self) -> Self {
        Self { uses_local_files: true, ..self }
    }

    /// A tool that changes nothing.
    pub const fn reads(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Reads)
    }

    /// A tool with the effect [`Effect::Creates`].
    pub const fn creates(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Creates)
    }

    /// A tool with the effect [`Effect::Replaces`].
    pub const fn replaces(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Replaces)
    }

    /// A tool with the effect [`Effect::Stops`].
    pub const fn stops(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Stops)
    }

    /// A tool with the effect [`Effect::Deletes`].
    pub const fn deletes(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Deletes)
    }

    /// Offers the tool by default.
    #[must_use]
    pub const fn core(self) -> Self {
        Self { tier: Tier::Core, ..self }
    }

    /// Sets the permission that the API key needs. Without this call every valid key is accepted.
    #[must_use]
    pub const fn needs(self, permission: &'static str) -> Self {
        Self { access: Access::Permission(permission), ..self }
    }

    /// Sends the request of the tool without an API key.
    #[must_use]
    pub const fn without_key(self) -> Self {
        Self { access: Access::NoKey, ..self }
    }

    /// Sets the rules of the service that a schema cannot express.
    #[must_use]
    pub const fn rules(self, rules: &'static [Rule]) -> Self {
        Self { rules, ..self }
    }

    /// Sets the rules of this program.
    #[must_use]
    pub const fn own_rules(self, own_rules: &'static [Rule]) -> Self {
        Self { own_rules, ..self }
    }

    /// Sets the fields that every answer has.
    #[must_use]
    pub const fn requires_fields(self, required_fields: &'static [&'static str]) -> Self {
        Self { required_fields, ..self }
    }

    /// Sets the columns in which people see the records of a list.
    #[must_use]
    pub const fn columns(self, columns: &'static [Column]) -> Self {
        Self { columns, ..self }
    }

    /// Sets what a caller does if the outcome of a call is unknown.
    #[must_use]
    pub const fn recovery_hint(self, hint: &'static str) -> Self {
        Self { failure_hints: FailureHints { recovery: Some(hint), ..self.failure_hints }, ..self }
    }

    /// Sets what still works without the permission or the feature.
    #[must_use]
    pub(crate) const fn access_hint(self, hint: &'static str) -> Self {
        Self { failure_hints: FailureHints { access: Some(hint), ..self.failure_hints }, ..self }
    }

    /// Sets what a caller does if a record that the call names does not exist.
    #[must_use]
    pub(crate) const fn not_found_hint(self, hint: &'static str) -> Self {
        Self { failure_hints: FailureHints { not_found: Some(hint), ..self.failure_hints }, ..self }
    }

    /// Sets the question that a person must answer before an irreversible or costly call.
    #[must_use]
    pub const fn asks_confirmation(self, question: ConfirmationQuestion) -> Self {
        Self { confirmation_question: Some(question), ..self }
    }

    /// Declares that hosts which display HTML have a page for the answer.
    #[must_use]
    pub const fn with_view(self) -> Self {
        Self { has_view: true, ..self }
    }

    /// Returns whether a caller can select fields of the answer with the argument [`super::FIELDS`].
    pub const fn takes_fields(&self) -> bool {
        self.effect.is_read_only()
    }

    /// Returns the message for a call of a tool that the setting `setting` switches off.
    pub fn switched_off_by(&self, setting: &str) -> String {
        format!("`{}` is switched off by the setting {setting}", self.name)
    }
}
