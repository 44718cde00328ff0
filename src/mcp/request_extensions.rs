//! What a transport adds to the extensions of a request.

use rmcp::model::ServerNotification;
use tokio::sync::mpsc;

/// Receives the notifications of one request in place of the peer. A transport without sessions puts a sink into the extensions
/// of the request.
#[derive(Clone, Debug)]
pub struct RequestNotifications(pub mpsc::Sender<ServerNotification>);

/// Mark, in the extensions of a request, of a transport without sessions.
#[derive(Clone, Copy, Debug)]
pub struct WithoutSession;
