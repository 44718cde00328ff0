//! Answers `prompts/list` and `prompts/get`.

use rmcp::{
    ErrorData,
    model::{self, GetPromptRequestParams, GetPromptResult, PromptMessage, Role},
};
use serde_json::json;

use super::{
    argument_check::{check_arguments, remove_bound_project},
    definition::PromptDefinition,
    script::TargetProject,
    table::PROMPTS,
};
use crate::{mcp::config::McpConfig, service::tool::PROJECT_ID};

/// Maximum length of a name that an error message repeats, in characters.
const QUOTED_NAME_CHARS: usize = 80;

/// Returns the offered prompts as hosts list them.
pub(in crate::mcp) fn list(config: &McpConfig) -> Vec<model::Prompt> {
    offered(config).map(|prompt| prompt.publish(config)).collect()
}

/// Finds an offered prompt by its name.
pub(in crate::mcp) fn find_offered(name: &str, config: &McpConfig) -> Option<&'static PromptDefinition> {
    offered(config).find(|prompt| prompt.name == name)
}

/// Returns the name of the prompt with this name, offered or not.
pub fn known_prompt(name: &str) -> Option<&'static str> {
    PROMPTS.iter().map(|prompt| prompt.name).find(|known| *known == name)
}

/// Returns the text of a prompt.
///
/// # Errors
/// Invalid parameters if there is no such prompt, or with everything that is wrong with the arguments.
pub(in crate::mcp) fn get(
    request: GetPromptRequestParams,
    config: &McpConfig,
) -> Result<GetPromptResult, ErrorData> {
    let prompt = find_offered(&request.name, config).ok_or_else(|| unknown_prompt(&request.name, config))?;
    let mut arguments = request.arguments.unwrap_or_default();

    // In project scope the prompts have no parameter for the project.
    if let Some(bound) = &config.project {
        remove_bound_project(&mut arguments, bound).map_err(|failure| {
            let message = format!("{}: {failure}", prompt.name);
            ErrorData::invalid_params(message, Some(json!({"error": failure})))
        })?;
    }

    let arguments = check_arguments(arguments, prompt, config)
        .map_err(|problems| ErrorData::invalid_params(format!("{}: {problems}", prompt.name), None))?;
    let target = match config.project {
        Some(_) => TargetProject::Bound,
        None => TargetProject::Open(arguments.get(PROJECT_ID)),
    };
    let text = (prompt.script)(&arguments, &config.selection).render(&target, &config.selection);
    let message = PromptMessage::new_text(Role::User, text);

    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
}

fn offered(config: &McpConfig) -> impl Iterator<Item = &'static PromptDefinition> {
    PROMPTS.iter().filter(|prompt| prompt.is_offered(&config.selection))
}

fn unknown_prompt(name: &str, config: &McpConfig) -> ErrorData {
    let names: Vec<_> = offered(config).map(|prompt| prompt.name).collect();
    let quoted: String = name.chars().take(QUOTED_NAME_CHARS).collect();
    ErrorData::invalid_params(format!("no prompt `{quoted}`; valid: {}", names.join(", ")), None)
}
