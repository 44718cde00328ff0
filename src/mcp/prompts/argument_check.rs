//! Checks the arguments of a prompt.

use rmcp::model::JsonObject;
use serde_json::Value;

use super::{
    arguments::PromptArguments,
    definition::{Exclusion, PromptDefinition, PromptParameter},
};
use crate::{
    call::scope::other_project_refused, failure::Failure, fields::Fields, mcp::config::McpConfig,
    service::tool::PROJECT_ID, text::has_hidden,
};

/// Maximum length of a value, in characters. Ids are much shorter.
const MAX_VALUE_CHARS: usize = 200;

/// Checks the arguments of `prompt`. An empty text counts as no argument, because hosts send empty text for a
/// field that was left empty.
///
/// # Errors
/// Everything that is wrong with the arguments, as text.
pub(super) fn check_arguments(
    arguments: JsonObject,
    prompt: &PromptDefinition,
    config: &McpConfig,
) -> Result<PromptArguments, String> {
    let offered = prompt.offered_parameters(config);
    let mut problems = Vec::new();
    let mut checked = Fields::new();

    for (name, value) in arguments {
        match check_value(&name, &value, &offered) {
            Ok(Some(text)) => drop(checked.insert(name, Value::from(text))),
            Ok(None) => {}
            Err(problem) => {
                problems.push(problem);
                // An invalid argument must not be reported as missing, too.
                checked.insert(name, value);
            }
        }
    }

    let arguments = PromptArguments::new(checked);
    let is_missing = |parameter: &&&PromptParameter| {
        prompt.is_required(parameter, &offered) && arguments.get(parameter.name).is_none()
    };
    let missing = offered.iter().filter(is_missing);
    problems.extend(missing.map(|parameter| format!("`{}` is required", parameter.name)));
    problems.extend(check_exclusion(&arguments, &prompt.exclusion, &offered));

    if problems.is_empty() { Ok(arguments) } else { Err(problems.join("; ")) }
}

/// Returns how the arguments violate an exclusion. Only offered parameters count.
fn check_exclusion(
    arguments: &PromptArguments,
    exclusion: &Exclusion,
    offered: &[&PromptParameter],
) -> Option<String> {
    let (quantifier, minimum, names) = match exclusion {
        Exclusion::None => return None,
        Exclusion::ExactlyOne(names) => ("exactly", 1, names),
        Exclusion::AtMostOne(names) => ("at most", 0, names),
    };
    let count = names.iter().filter(|name| arguments.get(name).is_some()).count();
    let is_offered = |name: &&&str| offered.iter().any(|parameter| parameter.name == **name);
    let names: Vec<_> = names.iter().filter(is_offered).map(|name| format!("`{name}`")).collect();

    // A single offered parameter is either required or excludes nothing.
    let is_violated = names.len() > 1 && (count < minimum || count > 1);
    is_violated.then(|| format!("give {quantifier} one of {}", names.join(", ")))
}

/// Removes the project from the arguments in project scope. A host may send it although the prompt has no such parameter
/// there.
///
/// # Errors
/// `project_scope_mismatch` if the arguments name another project than `bound`.
pub(super) fn remove_bound_project(arguments: &mut JsonObject, bound: &str) -> Result<(), Failure> {
    let project = match arguments.get(PROJECT_ID) {
        Some(Value::Null) => String::new(),
        Some(value) => text(value).unwrap_or_else(|| value.to_string()),
        None => return Ok(()),
    };
    if !project.is_empty() && project != bound {
        return Err(other_project_refused(&project, bound));
    }

    arguments.remove(PROJECT_ID);
    Ok(())
}

/// Returns the text of an argument, or `None` if the argument is empty.
fn check_value(name: &str, value: &Value, offered: &[&PromptParameter]) -> Result<Option<String>, String> {
    if !offered.iter().any(|parameter| parameter.name == name) {
        let names: Vec<_> = offered.iter().map(|parameter| parameter.name).collect();
        return Err(format!("no argument `{name:.40}`; valid: {}", names.join(", ")));
    }
    if value.is_null() {
        return Ok(None);
    }

    let text = text(value).ok_or_else(|| format!("`{name}` must be text"))?;
    check_text(&text).map_err(|rule| format!("`{name}` {rule}"))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) || has_hidden(text) {
        return Err("must be one line of visible characters".to_owned());
    }

    match text.chars().count() {
        count if count > MAX_VALUE_CHARS => {
            Err(format!("must have at most {MAX_VALUE_CHARS} characters, got {count}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_VALUE_CHARS, check_text, text};

    #[test]
    fn a_value_is_one_line_of_visible_characters() {
        let longest = "x".repeat(MAX_VALUE_CHARS);
        let too_long = format!("{longest}x");
        let cases = [
            ("run-1", true),
            ("ein Name \u{e4}", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("a\nb", false),
            ("a\u{200b}b", false),
            ("a\u{2028}b", false),
        ];

        for (value, is_valid) in cases {
            assert_eq!(check_text(value).is_ok(), is_valid, "{value:?}");
        }
    }

    #[test]
    fn numbers_are_taken_as_text() {
        for (value, expected) in
            [(json!(" a "), Some("a")), (json!(7), Some("7")), (json!(true), None), (json!([]), None)]
        {
            assert_eq!(text(&value).as_deref(), expected, "{value}");
        }
    }
}
