//! A resource template: a URI pattern and the operation that answers for it.

use crate::{mcp::value_source::ValueSource, service::catalog::OperationEntry, tools::selection::Selection};

/// Name of the variable that all templates have.
pub(in crate::mcp) const PROJECT_VARIABLE: &str = "project";

/// Media type of every resource.
pub(super) const MIME_TYPE: &str = "application/json";

/// A resource template.
#[derive(Debug)]
pub(in crate::mcp) struct RecordTemplate {
    /// Path below the project, with variables in braces.
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The content of the resource, as a sentence.
    pub(super) summary: &'static str,
    /// Returns the operation that reads the resource.
    pub(super) operation: fn() -> &'static OperationEntry,
    /// The variables of [`Self::path`].
    pub(super) variables: &'static [TemplateVariable],
}

/// A variable of a resource template.
#[derive(Debug)]
pub(super) struct TemplateVariable {
    /// Name in the template.
    pub(super) name: &'static str,
    /// Argument of the operation.
    pub(super) argument: &'static str,
    /// Source of the values, for completion.
    pub(super) source: ValueSource,
}

impl RecordTemplate {
    /// Start of the URI of every record.
    pub(super) const ROOT: &str = "tas://projects/";

    /// Returns the URI template (RFC 6570).
    pub(in crate::mcp) fn uri_template(&self) -> String {
        format!("{}{{{PROJECT_VARIABLE}}}/{}", Self::ROOT, self.path)
    }

    pub(super) fn description(&self) -> String {
        format!("{} The same as the result of `{}`.", self.summary, (self.operation)().name)
    }

    /// Returns whether the tool of the operation is offered.
    pub(super) fn is_offered(&self, selection: &Selection) -> bool {
        selection.offers(&(self.operation)().tool)
    }

    pub(super) fn variable(&self, name: &str) -> Option<&'static TemplateVariable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// Returns the source of the values of a variable, or `None` if the template has no such variable.
    pub(in crate::mcp) fn value_source(&self, variable: &str) -> Option<ValueSource> {
        if variable == PROJECT_VARIABLE {
            return Some(ValueSource::Projects);
        }
        self.variable(variable).map(|variable| variable.source)
    }
}
