//! The pictures of a run as a resource, for the view of hosts with MCP Apps.
//!
//! The view reads the resource through the host, because a tool reply with pictures would exceed the limits of hosts. The
//! resource is not listed: attached to a conversation, it would only cost a model many tokens.

use percent_encoding::percent_decode_str;
use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, ReadResourceResult, ResourceContents},
    service::RequestContext,
};
use serde_json::json;

use super::{config::McpConfig, resources, result_metadata::CacheableResult as _, tool_caller::ToolCaller};
use crate::service::{api::runs::GetRun, catalog::ListedOperation as _};

/// Start of the URI of a run whose project follows from its id.
const ROOT: &str = "tas://runs/";

/// Start of the URI of a run in a named project.
const PROJECT_ROOT: &str = "tas://projects/";

/// End of the URI.
const END: &str = "/pictures";

/// A parsed URI.
#[derive(Debug, PartialEq, Eq)]
struct PicturesUri {
    project: Option<String>,
    run_id: String,
}

/// Reads the pictures of a run if `uri` names them and `get_run` is offered; otherwise returns `None`.
///
/// # Errors
/// Failures of `get_run`. Pictures that cannot be loaded are described in the resource.
pub(super) async fn read(
    uri: &str,
    config: &McpConfig,
    caller: &ToolCaller,
    context: &RequestContext<RoleServer>,
) -> Option<Result<ReadResourceResult, ErrorData>> {
    let parsed = parse(uri).filter(|_| config.selection.offers(&GetRun::entry().tool))?;
    let album = caller.load_pictures(parsed.project.as_deref(), &parsed.run_id, context).await;

    Some(match album {
        Ok(album) => {
            let contents =
                ResourceContents::text(json!(album).to_string(), uri).with_mime_type("application/json");
            let result = ReadResourceResult::new(vec![contents]);
            // Only the owner of the key may read them.
            Ok(result.for_request(context, 0, CacheScope::Private))
        }
        Err(failure) => Err(resources::read_error(uri, failure, config)),
    })
}

/// Parses `tas://runs/{run}/pictures` or `tas://projects/{project}/runs/{run}/pictures`.
fn parse(uri: &str) -> Option<PicturesUri> {
    let path = uri.strip_suffix(END)?;
    if let Some(run) = path.strip_prefix(ROOT) {
        return Some(PicturesUri { project: None, run_id: decode(run)? });
    }

    let (project, run) = path.strip_prefix(PROJECT_ROOT)?.split_once("/runs/")?;
    Some(PicturesUri { project: Some(decode(project)?), run_id: decode(run)? })
}

/// Decodes a segment of a URI.
fn decode(segment: &str) -> Option<String> {
    let is_segment = !segment.is_empty() && !segment.contains(['/', '?', '#']);
    is_segment.then(|| percent_decode_str(segment).decode_utf8().ok().map(String::from)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{PicturesUri, parse};

    #[test]
    fn a_uri_names_a_run_and_perhaps_a_project() {
        let found = |project: Option<&str>, run: &str| {
            Some(PicturesUri { project: project.map(str::to_owned), run_id: run.to_owned() })
        };

        for (uri, expected) in [
            ("tas://runs/r1/pictures", found(None, "r1")),
            ("tas://projects/a%2Fb/runs/r%201/pictures", found(Some("a/b"), "r 1")),
            ("tas://projects/demo/runs/r1", None),
            ("tas://runs//pictures", None),
            ("tas://runs/a/b/pictures", None),
            ("tas://projects/demo/runs/r1?x/pictures", None),
            ("tas://runs/%FF/pictures", None),
        ] {
            assert_eq!(parse(uri), expected, "{uri}");
        }
    }
}
