//! Checks of a call that need no request: its arguments, and the agreement of a person.

use super::{configured::ConfiguredGateway, handle::Gateway};
use crate::{
    call::{
        common_arguments::ToolArguments, operation_request::OperationRequest, reply::FieldSelection,
        scope::find_invalid_ids,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        arguments::{self, Mode},
        catalog::OperationEntry,
        request,
        tool::Tool,
    },
    violation::Violation,
};

/// The arguments of a composite tool, checked.
#[derive(Debug)]
pub struct CheckedArguments {
    /// The arguments of the tool itself.
    pub own: Fields,
    /// The project that the caller named.
    pub project_id: Option<String>,
    /// The fields of the reply that the caller wants; `None` for all.
    pub selection: Option<FieldSelection>,
}

/// A call of an operation whose arguments are checked.
pub(super) struct CheckedCall {
    pub(super) request: OperationRequest,
    pub(super) project_id: Option<String>,
    pub(super) selection: Option<FieldSelection>,
}

impl Gateway {
    /// Checks the arguments of a tool against everything that is known without a request.
    ///
    /// # Errors
    /// `invalid_arguments` with every violation, or `confirmation_required`.
    pub fn check(&self, tool: &Tool, mut arguments: ToolArguments) -> Result<CheckedArguments, Failure> {
        let configured = self.first_covering(tool, arguments.common.project_id.as_deref())?;
        configured.check_writable(tool)?;

        let violations = find_violations(tool, &mut arguments);
        if !violations.is_empty() {
            return Err(Failure::invalid_arguments(tool.name, &violations));
        }

        // A person is asked only about a call whose arguments are valid.
        configured.check_confirmation(tool, &arguments)?;

        let ToolArguments { own, common, selection, .. } = arguments;

        Ok(CheckedArguments { own, project_id: common.project_id, selection })
    }
}

impl ConfiguredGateway {
    /// Checks the arguments of an operation, and lays out its request.
    ///
    /// # Errors
    /// `invalid_arguments` with every violation, or `confirmation_required`.
    pub(super) fn check_call(
        &self,
        entry: &'static OperationEntry,
        mut arguments: ToolArguments,
    ) -> Result<CheckedCall, Failure> {
        self.check_writable(entry)?;

        // The layout takes the arguments as the check of the schema has converted them.
        let mut violations = find_violations(entry, &mut arguments);
        let layout = request::layout(entry, &arguments.own, &self.tmsys_name);
        let layout = match layout {
            Ok(layout) if violations.is_empty() => layout,
            layout => {
                add_missing(&mut violations, layout.err().unwrap_or_default());
                return Err(Failure::invalid_arguments(entry.name, &violations));
            }
        };

        self.check_confirmation(entry, &arguments)?;

        let ToolArguments { own, common, selection, .. } = arguments;
        let request = OperationRequest::from_layout(entry, own, layout);

        Ok(CheckedCall { request, project_id: common.project_id, selection })
    }

    /// Refuses a tool that changes something if the settings allow only reading.
    fn check_writable(&self, tool: &Tool) -> Result<(), Failure> {
        if !self.is_read_only || tool.effect.is_read_only() {
            return Ok(());
        }
        let failure = Failure::new(Code::InvalidArguments, tool.switched_off_by("TAS_READ_ONLY"));
        Err(failure.hint("nothing was sent"))
    }

    /// Refuses a call that needs the agreement of a person and does not have it.
    fn check_confirmation(&self, tool: &Tool, arguments: &ToolArguments) -> Result<(), Failure> {
        if !self.requires_confirmation || arguments.common.is_confirmed {
            return Ok(());
        }

        let Some(effect) = tool.confirmation_question.and_then(|describe| describe(&arguments.own)) else {
            return Ok(());
        };
        let failure = Failure::new(Code::ConfirmationRequired, format!("{} {effect}", tool.name));

        Err(failure.hint("nothing was sent: a person must agree; then call again with `confirm: true`"))
    }
}

/// Returns the rules that the arguments break: of the common arguments, the schema, the tool and the ids. The schema
/// converts values in place.
fn find_violations(tool: &Tool, arguments: &mut ToolArguments) -> Vec<Violation> {
    let mut violations = std::mem::take(&mut arguments.violations);
    violations.extend(arguments::check(tool.input_schema(), &mut arguments.own, Mode::Arguments));

    for rule in tool.rules.iter().chain(tool.own_rules) {
        rule.check(&arguments.own, &mut violations);
    }

    add_missing(&mut violations, find_invalid_ids(&arguments.own));

    violations
}

/// Adds the violations of arguments that have none yet: one argument needs only one message.
fn add_missing(violations: &mut Vec<Violation>, more: Vec<Violation>) {
    for violation in more {
        if violations.iter().all(|known| known.path != violation.path) {
            violations.push(violation);
        }
    }
}
