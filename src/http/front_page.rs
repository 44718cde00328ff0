//! The page at `/`, which tells a user that the server works, and the address and the credential that a host needs.

use axum::http::{HeaderName, HeaderValue, header};
use axum::{
    extract::State,
    response::{Html, IntoResponse, Response},
};

use super::state::SharedState;

/// The page has no scripts, loads nothing, and is in no frame.
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
);

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}\
code{padding:.1rem .3rem;border-radius:4px;background:#8882}";

/// Returns the page. Without a public URL it tells users to take the address under which they have reached it.
pub(super) async fn front_page(State(shared): State<SharedState>) -> Response {
    let address = match &shared.settings.public_url {
        Some(url) => format!("this address: <code>{url}mcp</code>"),
        None => "the address of this page, followed by <code>mcp</code>".to_owned(),
    };
    let advice = if shared.authorization.is_some() {
        "Your host asks you to sign in."
    } else if shared.credentials.serves_anonymous() {
        "No API key is needed: this server has its own, and serves this machine only."
    } else {
        "Your host sends your API key of the Test Automation Service with each request, in the header <code>X-Api-Key</code>."
    };
    let service = if shared.uses_sandbox {
        "Calls go to a sandbox with example data, which ends with this server."
    } else {
        "Calls go to the Test Automation Service."
    };

    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
<title>tas-mcp</title><style>{STYLE}</style></head><body>\n<h1>This MCP server works</h1>\n\
<p>tas-mcp {}. {service}</p>\n<p>Add to your host, as a server over HTTP, {address}</p>\n<p>{advice}</p>\n\
<p>For one project, or fewer tools, add <code>/PROJECT</code>, <code>/x/lean</code> or <code>/readonly</code> to the address.</p>\n</body></html>\n",
        env!("CARGO_PKG_VERSION"),
    );

    ([POLICY], Html(page)).into_response()
}
