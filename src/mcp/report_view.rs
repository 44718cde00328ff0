//! The HTML view of a run or of results, for hosts with MCP Apps (extension `io.modelcontextprotocol/ui`, 2026-01-26).
//!
//! Hosts without the extension see only a note in the metadata of the tools.

use rmcp::{
    RoleServer,
    model::{MetaObject, ReadResourceResult, Resource, ResourceContents, ServerCapabilities},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::result_metadata::{CacheableResult as _, STATIC_LIFETIME_MS, shared_scope};
use crate::tools::{offered_text::offered_text, report, selection::Selection};

/// Name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// URI of the view.
const URI: &str = "ui://tas/run-report";

/// Description of the page for hosts.
const DESCRIPTION: &str = "The page that hosts show with the results of `get_run` or `summarize_results`.";

/// Media type that the extension defines for a page.
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// Returns whether a tool with the view is offered.
fn is_offered(selection: &Selection) -> bool {
    selection.tools().any(|entry| entry.info.has_view)
}

/// Declares the extension if a tool with the view is offered.
pub(super) fn declare(capabilities: &mut ServerCapabilities, selection: &Selection) {
    if is_offered(selection) {
        let settings = metadata(json!({"mimeTypes": [MIME_TYPE]})).0;
        capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), settings);
    }
}

/// Returns the metadata of a tool with the view. Older hosts read the name `ui/resourceUri`.
pub(super) fn tool_metadata() -> MetaObject {
    metadata(json!({"ui": {"resourceUri": URI}, "ui/resourceUri": URI}))
}

/// Returns the view as a resource if a tool with the view is offered.
pub(super) fn resource(selection: &Selection) -> Option<Resource> {
    let resource = Resource::new(URI, "run_report")
        .with_title("Report of a run or of results")
        .with_description(offered_text(DESCRIPTION, selection))
        .with_mime_type(MIME_TYPE)
        .with_meta(page_metadata());
    is_offered(selection).then_some(resource)
}

/// Returns the page if `uri` is the URI of the view and a tool with the view is offered.
pub(super) fn read(
    uri: &str,
    selection: &Selection,
    context: &RequestContext<RoleServer>,
) -> Option<ReadResourceResult> {
    if uri != URI || !is_offered(selection) {
        return None;
    }

    let contents =
        ResourceContents::text(report::view_page(), URI).with_mime_type(MIME_TYPE).with_meta(page_metadata());
    let result = ReadResourceResult::new(vec![contents]);

    Some(result.for_request(context, STATIC_LIFETIME_MS, shared_scope(context)))
}

/// Returns what the page needs from the host: a border, but no network and no permission.
fn page_metadata() -> MetaObject {
    let none: [&str; 0] = [];
    let csp = json!({"connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none});
    metadata(json!({"ui": {"csp": csp, "prefersBorder": true}}))
}

fn metadata(value: Value) -> MetaObject {
    match value {
        Value::Object(fields) => MetaObject(fields),
        _ => MetaObject::default(),
    }
}
