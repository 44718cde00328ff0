//! What can be known of a call without a request: whether its arguments are right, and whether somebody has agreed to it.

use serde_json::Value;

use super::Ready;
use crate::{
    call::{reply::Selection, scope::find_invalid_ids},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        arguments::{self, Mode},
        catalog::OperationEntry,
        request,
        tool::{CONFIRM, FIELDS, PROJECT_ID, Tool},
    },
    violation::Violation,
};

/// The arguments that all tools have, taken out of the arguments of a call.
#[derive(Debug)]
pub struct Checked {
    /// The project that the caller named.
    pub requested: Option<String>,
    /// The fields of the answer that the caller wants.
    pub wanted: Option<Selection>,
}

impl Ready {
    /// Checks the arguments against everything that can be known without a request; takes out what is ours. A call that
    /// nobody has agreed to yet ends here.
    pub(super) fn checked(
        &self,
        tool: &Tool,
        entry: Option<&OperationEntry>,
        arguments: &mut Fields,
    ) -> Result<Checked, Failure> {
        if self.read_only && !tool.effect.is_read_only() {
            let failure = Failure::new(Code::InvalidArguments, tool.switched_off_by("TAS_READ_ONLY"));
            return Err(failure.hint("nothing was sent"));
        }

        let mut violations = Vec::new();
        let requested = take_project(arguments, &mut violations);
        let confirmed = tool.confirmation_question.is_some() && take_confirmation(arguments, &mut violations);
        let wanted = if tool.takes_fields() { take_fields(tool, arguments, &mut violations) } else { None };

        violations.extend(arguments::check(tool.input_schema(), arguments, Mode::Arguments));
        for rule in tool.rules.iter().chain(tool.own_rules) {
            rule.check(arguments, &mut violations);
        }

        let laid_out = entry.and_then(|entry| request::layout(entry, arguments, &self.tmsys_name).err());
        for more in find_invalid_ids(arguments).into_iter().chain(laid_out.unwrap_or_default()) {
            if violations.iter().all(|known| known.path != more.path) {
                violations.push(more);
            }
        }

        if !violations.is_empty() {
            return Err(Failure::invalid_arguments(tool.name, &violations));
        }

        match confirmation(tool, arguments) {
            Some(failure) if self.asks_first && !confirmed => Err(failure),
            _ => Ok(Checked { requested, wanted }),
        }
    }
}

fn take_project(arguments: &mut Fields, violations: &mut Vec<Violation>) -> Option<String> {
    let project = match arguments.shift_remove(PROJECT_ID)? {
        Value::Null => return None,
        Value::String(project) => project,
        Value::Number(project) => project.to_string(),
        _ => {
            violations.push(Violation::new(PROJECT_ID, "must be a string"));
            return None;
        }
    };

    if let Err(rule) = request::check_segment(&project) {
        violations.push(Violation::new(PROJECT_ID, rule));
    }

    Some(project)
}

fn take_confirmation(arguments: &mut Fields, violations: &mut Vec<Violation>) -> bool {
    match arguments.shift_remove(CONFIRM) {
        Some(Value::Bool(confirmed)) => confirmed,
        Some(Value::String(text)) if text == "true" => true,
        None | Some(Value::Null) => false,
        Some(_) => {
            violations.push(Violation::new(CONFIRM, "must be true or false"));
            false
        }
    }
}

/// The names as text with commas, as a list, or as the text of a JSON list: hosts send them all.
fn take_fields(tool: &Tool, arguments: &mut Fields, violations: &mut Vec<Violation>) -> Option<Selection> {
    let names: Option<Vec<String>> = match arguments.shift_remove(FIELDS)? {
        Value::Null => return None,
        Value::String(text) => serde_json::from_str(&text)
            .ok()
            .or_else(|| Some(text.split(',').map(|name| name.trim().to_owned()).collect())),
        list => serde_json::from_value(list).ok(),
    };

    let Some(names) = names else {
        violations.push(Violation::new(FIELDS, "must be a list of names"));
        return None;
    };

    Selection::parse(tool, &names).map_err(|broken| violations.extend(broken)).ok()
}

/// The refusal of a call that a person has to agree to, if it is one.
fn confirmation(tool: &Tool, arguments: &Fields) -> Option<Failure> {
    let what = (tool.confirmation_question?)(arguments)?;
    let failure = Failure::new(Code::ConfirmationRequired, format!("{} {what}", tool.name));
    Some(failure.hint("nothing was sent: ask the person, then call again with `confirm: true`"))
}
