//! The messages of a host over HTTP, each in a request of its own.

use serde_json::Value;
use tas_mcp::{http::Application, mcp::Server};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, events},
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
    server: HttpUnderTest,
    /// The open requests.
    requests: JoinSet<()>,
    sender: UnboundedSender<String>,
    received: UnboundedReceiver<String>,
}

impl HostOverHttp {
    pub(super) fn to(server: Server) -> Self {
        let settings = settings(&[&SETTINGS[..], &FREE_PORTS].concat());
        let application = Application::for_service(&settings, move || server.clone());
        let server = HttpUnderTest::serve(application.expect("usable settings"));
        let (sender, received) = unbounded_channel();

        Self { server, requests: JoinSet::new(), sender, received }
    }

    /// Sends a message. The messages of its response are received later.
    pub(super) fn send(&mut self, message: &Value) {
        let (request, sender) = (self.server.message("/mcp", message), self.sender.clone());
        self.requests.spawn(async move {
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
}
