//! Persons who sign in: tokens, grants and metadata.

mod grants;
pub(crate) mod issuer;
mod keys_of_issuer;
mod metadata;
mod tokens;

use std::{fmt::Write as _, fs, path::PathBuf};

use reqwest::Response;
use serde_json::{Value, json};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    service::Service,
};

use self::issuer::Issuer;

/// Address under which clients reach the server.
const PUBLIC_URL: &str = "https://tas.example.com";

/// Audience of tokens for the endpoint without a project.
const AUDIENCE: &str = "https://tas.example.com/mcp";

/// A server that signs in persons, its issuer and its service.
struct TeamServer {
    service: Service,
    issuer: Issuer,
    server: HttpUnderTest,
    directory: tempfile::TempDir,
}

impl TeamServer {
    /// Starts a server with these grants and further variables. Each grant is the name of a key in
    /// [`keys`](tas_mcp::sandbox::keys), its text, and further lines.
    async fn start(grants: &[(&str, &str)], variables: &[(&str, &str)]) -> Self {
        let (service, issuer) = (Service::start().await, Issuer::start().await);
        let directory = tempfile::tempdir().expect("a directory");
        let file = write_grants(&directory, grants);

        let own = [
            ("TAS_OAUTH_ISSUER", issuer.url.as_str()),
            ("TAS_GRANTS_FILE", file.to_str().expect("a path")),
            ("TAS_HTTP_PUBLIC_URL", PUBLIC_URL),
            ("TAS_HTTP_RATE", "1000"),
        ];
        let settings = service.settings("", &[&FREE_PORTS[..], &own, variables].concat());
        let server = HttpUnderTest::start(&settings);
        Self { service, issuer, server, directory }
    }

    /// Sends a request to `/mcp` with a bearer token.
    async fn request(&self, token: &str, method: &str, params: Value) -> Response {
        let bearer = format!("Bearer {token}");
        self.server.modern("/mcp", &[("authorization", &bearer)], method, params).await
    }

    /// Calls a tool at a path with a token for the whole server. Returns the result.
    async fn call(&self, path: &str, claims: Value, tool: &str, arguments: Value) -> Value {
        let bearer = format!("Bearer {}", self.issuer.token(PUBLIC_URL, &claims));
        self.server.call(path, &[("authorization", &bearer)], tool, arguments).await
    }

    /// Returns the names of the tools that a person sees at a path.
    async fn tools(&self, path: &str, claims: Value) -> Vec<String> {
        let bearer = format!("Bearer {}", self.issuer.token(PUBLIC_URL, &claims));
        let listed = self.server.modern(path, &[("authorization", &bearer)], "tools/list", json!({})).await;
        let listed = json_of(listed).await;
        let tools = listed["result"]["tools"].as_array().expect("a list");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }
}

/// Writes a file with grants for the group `qa`, each with its key and further lines. Returns its path.
fn write_grants(directory: &tempfile::TempDir, grants: &[(&str, &str)]) -> PathBuf {
    let mut text = String::new();
    for (number, (key, lines)) in grants.iter().enumerate() {
        fs::write(directory.path().join(format!("{number}.key")), key).expect("a key");
        writeln!(text, "[[grant]]\nclaim = \"groups\"\nvalue = \"qa\"\nkey_file = \"{number}.key\"\n{lines}")
            .expect("text");
    }

    let path = directory.path().join("grants.toml");
    fs::write(&path, text).expect("a file");
    path
}

/// Returns the code of the failure of a call.
fn code_of(result: &Value) -> String {
    let text = result["content"][0]["text"].as_str().expect("a text");
    let failure: Value = serde_json::from_str(text).expect("JSON");
    failure["error"]["code"].as_str().unwrap_or_else(|| panic!("no failure: {failure}")).to_owned()
}
