//! The messages of a host over HTTP, each in a request of its own.

use std::net::SocketAddr;

use reqwest::Client;
use serde_json::Value;
use tas_mcp::{
    http::{Application, HttpServer},
    mcp::Server,
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
};

use crate::support::{
    http_client::{FREE_PORTS, events},
    service::settings,
};

/// Settings of a server over HTTP. The address of the service is not used, and the limits of requests are those of no test.
const SETTINGS: [(&str, &str); 4] = [
    ("TAS_BASE_URL", "http://127.0.0.1:9/api/v1"),
    ("TAS_HTTP_RATE", "1000000"),
    ("TAS_HTTP_CONCURRENCY", "100000"),
    ("TAS_HTTP_MAX_CALLS", "100000"),
];

/// A host of a server over HTTP in this process. The server ends with this value.
pub(super) struct HostOverHttp {
    /// The server until the first message.
    server: Option<Server>,
    address: Option<SocketAddr>,
    client: Client,
    /// The server and the open requests.
    tasks: JoinSet<()>,
    sender: UnboundedSender<String>,
    received: UnboundedReceiver<String>,
}

impl HostOverHttp {
    pub(super) fn to(server: Server) -> Self {
        let client = crate::support::plain_client().build().expect("a client");
        let (sender, received) = unbounded_channel();
        Self { server: Some(server), address: None, client, tasks: JoinSet::new(), sender, received }
    }

    /// Sends a message. The messages of its response are received later.
    pub(super) fn send(&mut self, text: &str) {
        let address = self.address();
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        let mut request = self.client.post(format!("http://{address}/mcp")).body(text.to_owned());
        request = request.header("content-type", "application/json");

        let params = &message["params"];
        if let Some(version) = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() {
            request = request.header("mcp-protocol-version", version);
            request = request.header("mcp-method", message["method"].as_str().unwrap_or_default());
            let name = ["name", "uri", "taskId"].iter().find_map(|field| params[field].as_str());
            request = name.into_iter().fold(request, |request, name| request.header("mcp-name", name));
        }

        let sender = self.sender.clone();
        self.tasks.spawn(async move {
            let text = request.send().await.expect("a response").text().await.expect("text");
            let messages = if text.starts_with("data:") { events(&text) } else { vec![text] };
            for message in messages.into_iter().filter(|message| !message.is_empty()) {
                // The host may have ended.
                sender.send(message).unwrap_or_default();
            }
        });
    }

    /// Returns the next message of the server.
    pub(super) async fn receive(&mut self) -> String {
        self.received.recv().await.expect("a sender")
    }

    /// Returns the address of the server, which starts with the first message.
    fn address(&mut self) -> SocketAddr {
        if let Some(server) = self.server.take() {
            let settings = settings(&[&SETTINGS[..], &FREE_PORTS].concat());
            let application = Application::for_service(&settings, move || server.clone());
            let application = application.expect("usable settings");
            let server = HttpServer::bind(application).expect("free ports");
            self.address = Some(server.address().expect("an address"));
            self.tasks.spawn(server.serve(std::future::pending()));
        }
        self.address.expect("a started server")
    }
}
