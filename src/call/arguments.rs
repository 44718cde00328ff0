//! The arguments of a call: those of the tool itself, and those that all tools have: `project_id`, `confirm`,
//! `dry_run` and `fields`.
//!
//! Hosts send them together. [`ToolArguments::from_host`] separates them once; after that the common ones travel beside
//! the others. Callers inside the program pass [`CommonArguments`] directly.

use serde_json::Value;

use super::{Caller, ids, reply::FieldSelection};
use crate::{
    failure::{Cause, Code, Failure, Violation},
    fields::Fields,
    service::{
        arguments::{self, Findings, Mode},
        catalog, request,
        tool::{CONFIRM, DRY_RUN, FIELDS, PROJECT_ID, ToolDefinition},
    },
};

/// Argument with which hosts name the call. No tool has an argument of this form.
const CALL_ID: &str = "toolCallId";

/// The project of a call, the agreement of a user, and whether the call is a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonArguments {
    /// The project that the caller named; `None` if the settings, the key or the ids decide it.
    pub project_id: Option<String>,
    /// Whether a user has agreed to a call that is irreversible or costly.
    pub is_confirmed: bool,
    /// Whether the request is shown instead of sent.
    pub is_dry_run: bool,
}

impl CommonArguments {
    /// Creates the common arguments of a call in `project`, without the agreement of a user.
    pub fn in_project(project: Option<&str>) -> Self {
        Self { project_id: project.map(str::to_owned), ..Self::default() }
    }

    /// Adds the agreement of a user.
    #[must_use]
    pub fn confirmed(self) -> Self {
        Self { is_confirmed: true, ..self }
    }
}

/// Detail of a refusal with the arguments that state to what a user agrees.
pub const AGREEMENT: &str = "agreement";

/// The arguments of a call, separated into those of the tool and those that all tools have.
#[derive(Clone, Debug)]
pub struct ToolArguments {
    /// The arguments of the tool itself.
    pub own: Fields,
    /// The project, and the agreement of a user.
    pub common: CommonArguments,
    /// The fields of the reply that the caller wants; `None` for all.
    pub selection: Option<FieldSelection>,
    /// The rules that the common arguments break.
    pub(super) violations: Vec<Violation>,
}

impl ToolArguments {
    /// Separates the arguments that a host has sent. `confirm` and `fields` stay among the arguments of tools that do
    /// not take them: the schema of the tool then refuses them.
    pub fn from_host(tool: &ToolDefinition, mut arguments: Fields) -> Self {
        let mut violations = Vec::new();
        let project_id = take_project(&mut arguments, &mut violations);
        let is_confirmed =
            tool.confirmation_question.is_some() && take_flag(CONFIRM, &mut arguments, &mut violations);
        let is_dry_run = tool.takes_dry_run() && take_flag(DRY_RUN, &mut arguments, &mut violations);
        let selection =
            if tool.takes_fields() { take_selection(tool, &mut arguments, &mut violations) } else { None };

        Self {
            own: arguments,
            common: CommonArguments { project_id, is_confirmed, is_dry_run },
            selection,
            violations,
        }
    }

    /// Creates the arguments of a call that the program itself makes.
    pub fn new(own: Fields, common: CommonArguments) -> Self {
        let broken = common.project_id.as_deref().and_then(|project| request::project_id(project).err());
        let violations = broken.map(|rule| Violation::new(PROJECT_ID, rule)).into_iter().collect();
        Self { own, common, selection: None, violations }
    }

    /// Adds the agreement of a user.
    #[must_use]
    pub fn confirmed(self) -> Self {
        Self { common: self.common.confirmed(), ..self }
    }

    /// Adds the agreement of a user to what a refusal states, such as the number of starts.
    #[must_use]
    pub fn agreed_to(mut self, refusal: &Failure) -> Self {
        if let Some(Value::Object(agreement)) = refusal.details.get(AGREEMENT) {
            self.own.extend(agreement.clone());
        }
        self.confirmed()
    }
}

/// The arguments of a call, checked. Its project is not known yet.
#[derive(Debug)]
pub struct CheckedArguments {
    /// The arguments of the tool itself.
    pub own: Fields,
    /// The project that the caller named.
    pub project_id: Option<String>,
    /// The fields of the reply that the caller wants; `None` for all.
    pub selection: Option<FieldSelection>,
    /// Whether a user has agreed to a call that is irreversible or costly.
    pub is_confirmed: bool,
    /// Whether the requests that change something are shown instead of sent.
    pub is_dry_run: bool,
    /// What the service may not understand as the caller means it.
    pub warnings: Vec<Violation>,
}

impl Caller {
    /// Checks the arguments of a tool against everything that is known without a request.
    ///
    /// # Errors
    /// `invalid_arguments` with every violation, or `confirmation_required`.
    pub fn check(
        &self,
        tool: &ToolDefinition,
        mut arguments: ToolArguments,
    ) -> Result<CheckedArguments, Failure> {
        self.check_permitted(tool, arguments.common.project_id.as_deref())?;
        self.check_writable(tool)?;

        let Findings { violations, warnings, .. } = find_violations(tool, &mut arguments);
        if !violations.is_empty() {
            return Err(Failure::invalid_arguments(tool.name, &violations));
        }

        // A user is asked only about a call whose arguments are valid.
        let question = tool.confirmation_question.filter(|_| !arguments.common.is_dry_run);
        if let Some(effect) = question.and_then(|describe| describe(&arguments.own)) {
            self.require_agreement(arguments.common.is_confirmed, || format!("{} {effect}", tool.name))?;
        }
        let ToolArguments { own, common, selection, .. } = arguments;
        let CommonArguments { project_id, is_confirmed, is_dry_run } = common;

        Ok(CheckedArguments { own, project_id, selection, is_confirmed, is_dry_run, warnings })
    }

    /// Refuses a tool that changes something if the settings allow only reading.
    ///
    /// # Errors
    /// `invalid_arguments` with the setting. Every call checks it; commands that ask the user do so before they ask.
    pub fn check_writable(&self, tool: &ToolDefinition) -> Result<(), Failure> {
        if !self.is_read_only || tool.effect.is_read_only() {
            return Ok(());
        }
        let mut failure = Failure::new(Code::InvalidArguments, tool.switched_off_by("TAS_READ_ONLY"));
        failure.facts.cause = Some(Cause::ReadOnly);

        Err(failure.hint("nothing was sent"))
    }

    /// Refuses a call to which no user has agreed. `effect` returns what the call would do.
    ///
    /// # Errors
    /// `confirmation_required`, if the settings require the agreement of a user.
    pub fn require_agreement(
        &self,
        is_confirmed: bool,
        effect: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if !self.requires_confirmation || is_confirmed {
            return Ok(());
        }
        let failure = Failure::new(Code::ConfirmationRequired, effect());

        Err(failure
            .hint("nothing was sent: a person must agree; then call again with `argument:confirm: true`"))
    }
}

/// Removes the arguments that hosts add to those of the model, which cannot take them away: names that begin with `_`, and
/// the id of the call.
pub fn drop_arguments_of_host(arguments: &mut Fields) {
    arguments.retain(|name, _| !name.starts_with('_') && name != CALL_ID);
}

/// Returns the rules that the arguments break: of the common arguments, the schema, the tool, the ids and the path. The
/// schema converts values in place.
fn find_violations(tool: &ToolDefinition, arguments: &mut ToolArguments) -> Findings {
    let schema = tool.input_schema();
    let mut findings = arguments::check(schema, &mut arguments.own, Mode::Arguments);
    findings.violations.splice(..0, std::mem::take(&mut arguments.violations));
    arguments::remove_idle_defaults(schema, tool.rules, &mut arguments.own);

    for rule in tool.rules {
        let found = if rule.is_advice() { &mut findings.warnings } else { &mut findings.violations };
        rule.check(&arguments.own, found);
    }
    findings.violations.dedup();
    findings.violations.truncate(arguments::MAX_VIOLATIONS);
    add_missing(&mut findings.violations, ids::find_invalid_ids(&arguments.own));
    if let Some(operation) = catalog::find(tool.name) {
        add_missing(&mut findings.violations, request::find_violations(operation, &arguments.own));
    }

    findings
}

/// Adds the violations of arguments that have none yet: one argument needs only one message.
fn add_missing(violations: &mut Vec<Violation>, more: Vec<Violation>) {
    for violation in more {
        if violations.iter().all(|known| known.path != violation.path) {
            violations.push(violation);
        }
    }
}

/// Removes the project from the arguments. A number is accepted, because some hosts send digits as a number.
fn take_project(arguments: &mut Fields, violations: &mut Vec<Violation>) -> Option<String> {
    let project = match arguments.shift_remove(PROJECT_ID)? {
        Value::Null => return None,
        Value::String(project) if ["", "null", "undefined"].contains(&project.as_str()) => return None,
        Value::String(project) => project,
        Value::Number(project) => project.to_string(),
        _ => {
            violations.push(Violation::new(PROJECT_ID, "must be a string"));
            return None;
        }
    };

    // A failure can quote what remains.
    let parsed = request::project_id(&project);
    parsed.map_err(|rule| violations.push(Violation::new(PROJECT_ID, rule))).ok()
}

/// Removes an argument that is true or false. The text `true` is accepted, because some hosts send every value as text.
fn take_flag(name: &str, arguments: &mut Fields, violations: &mut Vec<Violation>) -> bool {
    match arguments.shift_remove(name) {
        Some(Value::Bool(is_set)) => is_set,
        Some(Value::String(text)) if text == "true" => true,
        None | Some(Value::Null) => false,
        Some(_) => {
            violations.push(Violation::new(name, "must be true or false"));
            false
        }
    }
}

/// Removes the selection from the arguments. Hosts send the names as text with commas, as a list, or as the text of a
/// JSON list.
fn take_selection(
    tool: &ToolDefinition,
    arguments: &mut Fields,
    violations: &mut Vec<Violation>,
) -> Option<FieldSelection> {
    let names: Option<Vec<String>> = match arguments.shift_remove(FIELDS)? {
        Value::Null => return None,
        Value::String(text) if text.is_empty() => return None,
        Value::String(text) => {
            // A text that is not a JSON list contains names with commas between them.
            let listed = serde_json::from_str(&text).ok();
            listed.or_else(|| Some(text.split(',').map(|name| name.trim().to_owned()).collect()))
        }
        list => serde_json::from_value(list).ok(),
    };

    let Some(names) = names else {
        violations.push(Violation::new(FIELDS, "must be a list of names"));
        return None;
    };

    FieldSelection::parse(tool, &names).map_err(|broken| violations.extend(broken)).ok()
}
