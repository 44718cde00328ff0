//! The view of tools whose results are worth a look, as hosts of MCP Apps show it (extension
//! `io.modelcontextprotocol/ui`, 2026-01-26). Other hosts see a note in the metadata of the tools, and nothing else.

use rmcp::{
    RoleServer,
    model::{CacheScope, MetaObject, ReadResourceResult, Resource, ResourceContents, ServerCapabilities},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{CACHE_MS, is_modern, stamp};
use crate::tools::{report, selection::Selection};

/// Name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// Address of the view.
pub(super) const URI: &str = "ui://tas/run-report";

/// What the extension calls a page.
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// Whether a tool that has the view is offered.
fn is_offered(selection: &Selection) -> bool {
    selection.tools().any(|tool| tool.has_view)
}

/// The extension, as the server announces it where there is a view.
pub(super) fn announce(capabilities: &mut ServerCapabilities, selection: &Selection) {
    if is_offered(selection) {
        let settings = meta(json!({"mimeTypes": [MIME_TYPE]})).0;
        capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), settings);
    }
}

/// What a tool that has the view says of it; the second name is that of older hosts.
pub(super) fn of_tool() -> MetaObject {
    meta(json!({"ui": {"resourceUri": URI}, "ui/resourceUri": URI}))
}

/// The view in the list of resources, where a tool that has it is offered.
pub(super) fn listed(selection: &Selection) -> Option<Resource> {
    let resource = Resource::new(URI, "run_report").with_title("Report of a run or of results");
    let resource = resource
        .with_description("The page that hosts show with the results of `get_run` and `summarize_results`.")
        .with_mime_type(MIME_TYPE)
        .with_meta(frame());
    is_offered(selection).then_some(resource)
}

/// The page, if the address is its own.
pub(super) fn read(
    uri: &str,
    selection: &Selection,
    context: &RequestContext<RoleServer>,
) -> Option<ReadResourceResult> {
    if uri != URI || !is_offered(selection) {
        return None;
    }

    let contents = ResourceContents::text(report::view(), URI).with_mime_type(MIME_TYPE).with_meta(frame());
    let mut result = ReadResourceResult::new(vec![contents]);

    if is_modern(context) {
        result = result.with_ttl_ms(CACHE_MS).with_cache_scope(CacheScope::Public);
        stamp(&mut result.meta);
    }

    Some(result)
}

/// What the page needs from the host: no network, no permission, a border.
fn frame() -> MetaObject {
    let none: [&str; 0] = [];
    let csp = json!({"connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none});
    meta(json!({"ui": {"csp": csp, "prefersBorder": true}}))
}

fn meta(value: Value) -> MetaObject {
    match value {
        Value::Object(fields) => MetaObject(fields),
        _ => MetaObject::default(),
    }
}
