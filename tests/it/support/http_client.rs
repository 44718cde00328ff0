//! A server over HTTP in this process, and a client that sends it requests.

use std::net::SocketAddr;

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tas_mcp::{
    http::{Application, HttpServer, StopRequest},
    settings::Settings,
};
use tokio::{sync::oneshot, task::JoinHandle};

/// Metadata of a request of the revision 2026-07-28, of a host that can ask the person.
pub(crate) fn modern_metadata() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    })
}

/// Variables that let a server listen on free ports.
pub(crate) const FREE_PORTS: [(&str, &str); 2] =
    [("TAS_HTTP_LISTEN", "127.0.0.1:0"), ("TAS_HTTP_ADMIN", "127.0.0.1:0")];

/// A running server. It stops with this value.
pub(crate) struct HttpUnderTest {
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    client: Client,
    stop: Option<oneshot::Sender<StopRequest>>,
    pub(crate) serving: JoinHandle<()>,
}

impl HttpUnderTest {
    /// Starts a server with these settings, which contain [`FREE_PORTS`]. Call it in a Tokio runtime.
    pub(crate) fn start(settings: &Settings) -> Self {
        Self::serve(Application::from_settings(settings).expect("usable settings"))
    }

    /// Starts a server of this application, as [`Self::start`] does.
    pub(crate) fn serve(application: Application) -> Self {
        let server = HttpServer::bind(application).expect("free ports");
        let address = server.address().expect("an address");
        let admin = server.admin_address().expect("an address").expect("an admin listener");
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve(async { stopped.await.unwrap_or(StopRequest::Announced) }));

        let client = crate::support::plain_client().build().expect("a client");

        Self { address, admin, client, stop: Some(stop), serving }
    }

    /// Asks the server to stop.
    pub(crate) fn stop(&mut self) {
        self.stop.take().expect("the first stop").send(StopRequest::Announced).expect("a running server");
    }

    /// Returns a request to a path, with the media types of the protocol.
    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.request("POST", path)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    /// Returns a request with another method.
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().expect("a method");
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    /// Returns the status and the text of a path of the admin listener.
    pub(crate) async fn admin(&self, path: &str) -> (u16, String) {
        let response =
            self.client.get(format!("http://{}{path}", self.admin)).send().await.expect("a response");
        (response.status().as_u16(), response.text().await.expect("text"))
    }

    /// Returns a request with this message. Its metadata decides about the headers of the newest revision.
    pub(crate) fn message(&self, path: &str, message: &Value) -> RequestBuilder {
        let (request, params) = (self.post(path).body(message.to_string()), &message["params"]);
        let Some(version) = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() else {
            return request;
        };

        let method = message["method"].as_str().expect("a method");
        let request = request.header("mcp-protocol-version", version).header("mcp-method", method);
        let name = ["name", "uri", "taskId"].iter().find_map(|field| params[field].as_str());
        name.into_iter().fold(request, |request, name| request.header("mcp-name", name))
    }

    /// Sends a request of the newest revision, with these headers. Returns the response.
    pub(crate) async fn modern(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        method: &str,
        params: Value,
    ) -> Response {
        let request = with_headers(self.modern_request(path, method, params), headers);
        request.send().await.expect("a response")
    }

    /// Returns a request of the newest revision.
    pub(crate) fn modern_request(&self, path: &str, method: &str, mut params: Value) -> RequestBuilder {
        let mut metadata = modern_metadata();
        if let Some(more) = params["_meta"].as_object() {
            metadata.as_object_mut().expect("an object").extend(more.clone());
        }
        params["_meta"] = metadata;

        self.message(path, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    /// Calls a tool in the newest revision, and returns the result.
    pub(crate) async fn call(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        tool: &str,
        arguments: Value,
    ) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let response = self.modern(path, headers, "tools/call", params).await;
        assert_eq!(response.status().as_u16(), 200);
        json_of(response).await["result"].clone()
    }
}

impl Drop for HttpUnderTest {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Adds headers to a request.
pub(crate) fn with_headers(request: RequestBuilder, headers: &[(&str, &str)]) -> RequestBuilder {
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

/// Returns the JSON body of a response.
pub(crate) async fn json_of(response: Response) -> Value {
    let bytes = response.bytes().await.expect("a body");
    serde_json::from_slice(&bytes).unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&bytes)))
}

/// Returns the messages of a stream of events.
pub(crate) fn events(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}
