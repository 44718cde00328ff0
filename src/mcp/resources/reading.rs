//! Reads a resource with a call of its tool. A failure of the tool becomes a protocol error.

use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, ErrorCode, ReadResourceResult, ResourceContents},
    service::RequestContext,
};
use serde_json::json;

use super::{lookup::find, template::MIME_TYPE};
use crate::{
    call::{
        common_arguments::{CommonArguments, ToolArguments},
        reply,
    },
    failure::{Code, Failure},
    mcp::{config::McpConfig, result_metadata::CacheableResult as _, tool_caller::ToolCaller},
    tools::{catalog::ToolEntry, offered_text::with_offered_hint},
};

/// Reads a resource.
///
/// # Errors
/// The failure of the tool, or `RESOURCE_NOT_FOUND` if no offered template has this URI.
pub(in crate::mcp) async fn read(
    uri: &str,
    config: &McpConfig,
    caller: &ToolCaller,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let record = find(uri, &config.selection)?;
    let tool = ToolEntry::Operation((record.template.operation)());

    let common = CommonArguments::in_project(Some(&record.project));
    let reply = caller.call(tool, ToolArguments::new(record.arguments, common), context).await;
    let reply = reply.map_err(|failure| read_error(uri, failure, config))?;

    let source = reply::ReplySource::Resource(tool.tool());
    let (_, text) = reply.into_limited(config.max_reply_chars, source).await;
    let contents = ResourceContents::text(text, uri).with_mime_type(MIME_TYPE);
    let result = ReadResourceResult::new(vec![contents]);

    // Records change, and only the owner of the key may read them.
    Ok(result.for_request(context, 0, CacheScope::Private))
}

/// Returns the protocol error for a resource that could not be read.
pub(in crate::mcp) fn read_error(uri: &str, failure: Failure, config: &McpConfig) -> ErrorData {
    let failure = with_offered_hint(with_uri_hint(failure), &config.selection);
    protocol_error(uri, &reply::limit_failure(failure, config.max_reply_chars))
}

/// Replaces a hint about arguments by a hint about the URI.
fn with_uri_hint(mut failure: Failure) -> Failure {
    failure.hint = match failure.code {
        Code::ProjectNotResolved => Some("check the id and the project in the URI".to_owned()),
        Code::ProjectScopeMismatch => {
            let owner = failure.facts.owning_project.as_deref().unwrap_or_default();
            Some(format!("use the project `{owner}` in the URI"))
        }
        _ => failure.hint,
    };
    failure
}

/// Returns a failed call as protocol error. Hosts show only the message, so that it contains the hint.
fn protocol_error(uri: &str, failure: &Failure) -> ErrorData {
    let message = match &failure.hint {
        Some(hint) => format!("{failure}; {hint}"),
        None => failure.to_string(),
    };
    ErrorData::new(error_code(failure.code), message, Some(json!({"uri": uri, "error": failure})))
}

fn error_code(code: Code) -> ErrorCode {
    match code {
        Code::NotFound | Code::ProjectNotResolved => ErrorCode::RESOURCE_NOT_FOUND,
        Code::InvalidArguments | Code::ProjectRequired | Code::ProjectScopeMismatch => {
            ErrorCode::INVALID_PARAMS
        }
        _ => ErrorCode::INTERNAL_ERROR,
    }
}
