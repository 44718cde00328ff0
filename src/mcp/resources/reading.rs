//! Reading a resource: the call of its tool, and its failures as protocol errors.

use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, ErrorCode, ReadResourceResult, ResourceContents},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{MIME_TYPE, find};
use crate::{
    call::reply,
    failure::{Code, Failure},
    mcp::{Server, is_modern, stamp},
    tools::catalog,
};

impl Server {
    /// Reads a record through its tool.
    pub(in crate::mcp) async fn read(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        let found = find(uri, &self.0.selection)?;
        let Some(tool) = catalog::find_tool(found.template.tool) else {
            return Err(ErrorData::internal_error(format!("{}: no such tool", found.template.tool), None));
        };
        let reply = self
            .call(tool, found.arguments, context)
            .await
            .map_err(|failure| refused(uri, &at_address(failure)))?;
        let (_, text) = reply.into_limited(self.0.max_reply_chars, reply::ReplySource::Resource(&tool));
        let contents = ResourceContents::text(text, uri).with_mime_type(MIME_TYPE);
        let mut result = ReadResourceResult::new(vec![contents]);

        if is_modern(context) {
            // A run goes on, and what is read needs the key.
            result = result.with_ttl_ms(0).with_cache_scope(CacheScope::Private);
            stamp(&mut result.meta);
        }

        Ok(result)
    }
}

/// A failure whose advice is about arguments, for somebody who has only an address.
fn at_address(mut failure: Failure) -> Failure {
    failure.hint = match failure.code {
        Code::ProjectNotResolved => Some("check the id and the project in the address".to_owned()),
        Code::ProjectScopeMismatch => {
            let owning = failure.details.get("owning_project").and_then(Value::as_str).unwrap_or_default();
            Some(format!("name the project `{owning}` in the address"))
        }
        _ => failure.hint,
    };
    failure
}

/// A failed call. Hosts show the message alone, so that it holds the hint too.
fn refused(uri: &str, failure: &Failure) -> ErrorData {
    let message = match &failure.hint {
        Some(hint) => format!("{failure}; {hint}"),
        None => failure.to_string(),
    };
    ErrorData::new(code(failure.code), message, Some(json!({"uri": uri, "error": failure})))
}

fn code(code: Code) -> ErrorCode {
    match code {
        Code::NotFound | Code::ProjectNotResolved => ErrorCode::RESOURCE_NOT_FOUND,
        Code::InvalidArguments | Code::ProjectRequired | Code::ProjectScopeMismatch => {
            ErrorCode::INVALID_PARAMS
        }
        _ => ErrorCode::INTERNAL_ERROR,
    }
}
