//! Arguments of a prompt. They are data: nothing in them may read like a part of the text.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::{Argument, Choice, script::Piece};
use crate::{
    call::scope::other_project_refused, failure::Failure, fields::Fields, service::tool::PROJECT_ID,
    text::is_hidden,
};

/// Longest value, in characters. Ids are far shorter.
const LONGEST: usize = 200;

/// Checked arguments.
pub(super) struct Given(Fields);

impl Given {
    /// Checks them; says everything that is wrong. Hosts send what was left empty as empty text.
    pub(super) fn check(given: JsonObject, known: &[&Argument], choice: &Choice) -> Result<Self, String> {
        let mut broken = Vec::new();
        let mut checked = Fields::new();

        for (name, value) in given {
            if !known.iter().any(|argument| argument.name == name) {
                let names: Vec<_> = known.iter().map(|argument| argument.name).collect();
                broken.push(format!("no argument `{name:.40}`; there are: {}", names.join(", ")));
            } else if let Some(value) = text(&value) {
                if let Err(rule) = check_text(&value) {
                    broken.push(format!("`{name}` {rule}"));
                }
                checked.insert(name, Value::from(value));
            } else if !value.is_null() {
                broken.push(format!("`{name}` must be text"));
            }
        }

        checked.retain(|_, value| value != "");
        let given = Self(checked);
        let is_required = |one: &Argument| one.is_required || choice.leaves_only(one.name, known);

        for missing in known.iter().filter(|one| is_required(one) && given.get(one.name).is_none()) {
            broken.push(format!("`{}` is required", missing.name));
        }

        broken.extend(given.broken(choice, known));

        if broken.is_empty() { Ok(given) } else { Err(broken.join("; ")) }
    }

    /// How the choice between arguments is broken, if it is; only known ones can be chosen.
    fn broken(&self, choice: &Choice, known: &[&Argument]) -> Option<String> {
        let (word, least, names) = match choice {
            Choice::Free => return None,
            Choice::ExactlyOne(names) => ("exactly", 1, names),
            Choice::AtMostOne(names) => ("at most", 0, names),
        };
        let count = names.iter().filter(|name| self.get(name).is_some()).count();
        let known = names.iter().filter(|name| known.iter().any(|one| one.name == **name));
        let names: Vec<_> = known.map(|name| format!("`{name}`")).collect();
        // One name alone is required, or goes with nothing.
        let is_broken = names.len() > 1 && (count < least || count > 1);

        is_broken.then(|| format!("give {word} one of {}", names.join(", ")))
    }

    /// The value of an argument, if there is one.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The value of an argument, for a call.
    pub(super) fn piece(&self, name: &str) -> Option<Piece> {
        self.get(name).cloned().map(Piece::Data)
    }
}

/// In project scope a caller may name the project all the same: takes it out where it is `bound`, that of the settings.
pub(super) fn leave_out(given: &mut JsonObject, bound: &str) -> Result<(), Failure> {
    let project = match given.get(PROJECT_ID) {
        Some(Value::Null) => String::new(),
        Some(value) => text(value).unwrap_or_else(|| value.to_string()),
        None => return Ok(()),
    };
    if !project.is_empty() && project != bound {
        return Err(other_project_refused(&project, bound));
    }

    given.remove(PROJECT_ID);

    Ok(())
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.chars().any(|one| one.is_control() || is_hidden(one) || matches!(one, '\u{2028}' | '\u{2029}')) {
        return Err("must be one line of visible characters".to_owned());
    }
    match text.chars().count() {
        count if count > LONGEST => Err(format!("must have at most {LONGEST} characters, got {count}")),
        _ => Ok(()),
    }
}
