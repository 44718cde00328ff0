//! The HTML view of a run or of results, for hosts with MCP Apps (extension `io.modelcontextprotocol/ui`, 2026-01-26): the
//! page, and the bugs and pictures of a run that it shows.
//!
//! The page reads these as a resource through the host, because a tool reply with pictures would exceed the limits of
//! hosts. This resource is not listed: attached to a conversation, it would only cost a model many tokens.
//!
//! Hosts without the extension see only a note in the metadata of the tools.

use percent_encoding::percent_decode_str;
use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, MetaObject, ReadResourceResult, Resource, ResourceContents, ServerCapabilities},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    callers::ToolRunner,
    resources,
    revision::{CacheableResult as _, STATIC_LIFETIME_MS, shared_scope},
    server::McpConfig,
};
use crate::{
    failure::Failure,
    service::{api::runs::GetRun, catalog::ListedOperation as _},
    text::guidance::for_caller,
    tools::{report, selection::Selection},
};

/// Name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// URI of the page.
const PAGE_URI: &str = "ui://tas/run-report";

/// Description of the page for hosts.
const PAGE_DESCRIPTION: &str =
    "The page that hosts show with the results of `tool:get_run|summarize_results`.";

/// Media type that the extension defines for a page.
const PAGE_MIME_TYPE: &str = "text/html;profile=mcp-app";

pub(super) fn declare(capabilities: &mut ServerCapabilities, selection: &Selection) {
    if is_offered(selection) {
        let settings = metadata(json!({"mimeTypes": [PAGE_MIME_TYPE]})).0;
        capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), settings);
    }
}

/// Returns the metadata of a tool with the view. Older hosts read the name `ui/resourceUri`.
pub(super) fn tool_metadata() -> MetaObject {
    metadata(json!({"ui": {"resourceUri": PAGE_URI}, "ui/resourceUri": PAGE_URI}))
}

/// Returns the page as a resource if a tool with the view is offered.
pub(super) fn resource(selection: &Selection) -> Option<Resource> {
    let resource = Resource::new(PAGE_URI, "run_report")
        .with_title("Report of a run or of results")
        .with_description(for_caller(PAGE_DESCRIPTION, selection).unwrap_or_default())
        .with_mime_type(PAGE_MIME_TYPE)
        .with_meta(page_metadata());
    is_offered(selection).then_some(resource)
}

/// Reads the page, or the bugs and pictures of a run. Returns `None` if `uri` names neither, or what it names is not offered.
///
/// # Errors
/// Failures of `get_run`. Pictures that cannot be loaded are described in the resource.
pub(super) async fn read(
    uri: &str,
    config: &McpConfig,
    runner: &ToolRunner,
    context: &RequestContext<RoleServer>,
) -> Option<Result<ReadResourceResult, ErrorData>> {
    if uri == PAGE_URI {
        return is_offered(&config.selection).then(|| Ok(read_page(context)));
    }

    let pictures = PicturesUri::parse(uri).filter(|_| config.selection.offers(&GetRun::entry().tool))?;
    let read = read_pictures(uri, &pictures, runner, context).await;
    Some(read.map_err(|failure| resources::read_error(uri, failure, config)))
}

fn read_page(context: &RequestContext<RoleServer>) -> ReadResourceResult {
    let contents = ResourceContents::text(report::view_page(), PAGE_URI)
        .with_mime_type(PAGE_MIME_TYPE)
        .with_meta(page_metadata());
    let result = ReadResourceResult::new(vec![contents]);

    result.for_request(context, STATIC_LIFETIME_MS, shared_scope(context))
}

async fn read_pictures(
    uri: &str,
    pictures: &PicturesUri,
    runner: &ToolRunner,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, Failure> {
    let run = runner.read_view(pictures.project.as_deref(), &pictures.run_id, context).await?;
    let contents = ResourceContents::text(json!(run).to_string(), uri).with_mime_type("application/json");
    let result = ReadResourceResult::new(vec![contents]);

    // Only the owner of the key may read them.
    Ok(result.for_request(context, 0, CacheScope::Private))
}

fn is_offered(selection: &Selection) -> bool {
    selection.tools().any(|entry| entry.has_view)
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

/// The parsed URI of the bugs and pictures of a run.
#[derive(Debug)]
struct PicturesUri {
    /// `None` if the project follows from the id of the run.
    project: Option<String>,
    run_id: String,
}

impl PicturesUri {
    /// Parses `tas://runs/{run}/pictures` or `tas://projects/{project}/runs/{run}/pictures`.
    fn parse(uri: &str) -> Option<Self> {
        let path = uri.strip_prefix("tas://")?.strip_suffix("/pictures")?;
        if let Some(run) = path.strip_prefix("runs/") {
            return Some(Self { project: None, run_id: decode(run)? });
        }

        let (project, run) = path.strip_prefix("projects/")?.split_once("/runs/")?;
        Some(Self { project: Some(decode(project)?), run_id: decode(run)? })
    }
}

fn decode(segment: &str) -> Option<String> {
    if segment.is_empty() || segment.contains(['/', '?', '#']) {
        return None;
    }
    percent_decode_str(segment).decode_utf8().ok().map(String::from)
}
