//! Finds the template and the arguments of a resource URI.

use rmcp::{ErrorData, model::ErrorCode};
use serde_json::json;

use super::{
    listing::offered_templates,
    template::RecordTemplate,
    uri::{RecordUri, parse},
};
use crate::tools::selection::Selection;

/// Maximum length of a URI that an error message repeats, in characters.
const QUOTED_URI_CHARS: usize = 200;

/// Finds the template and the arguments of a resource URI.
///
/// # Errors
/// `RESOURCE_NOT_FOUND`, with the valid templates, if no offered template has this URI.
pub(super) fn find(uri: &str, selection: &Selection) -> Result<RecordUri, ErrorData> {
    let found = parse(uri).map_err(|reason| not_found(uri, &reason, selection))?;
    if found.template.is_offered(selection) {
        return Ok(found);
    }

    let tool = (found.template.operation)().name;
    let reason = format!("the setting TAS_TOOLSETS excludes its tool `{tool}`");
    Err(not_found(uri, &reason, selection))
}

fn not_found(uri: &str, reason: &str, selection: &Selection) -> ErrorData {
    let uri: String = uri.chars().take(QUOTED_URI_CHARS).collect();
    let valid: Vec<_> = offered_templates(selection).map(RecordTemplate::uri_template).collect();
    let message = format!("no resource `{uri}`: {reason}; valid: {}", valid.join(", "));

    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, Some(json!({"uri": uri, "valid": valid})))
}
