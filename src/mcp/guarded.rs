//! The server, whose every request is answered: a panic in one would leave its caller waiting for ever.

use std::{borrow::Cow, panic::AssertUnwindSafe};

use futures_util::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, Service,
    model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult},
    service::{NotificationContext, RequestContext},
};

use super::Server;

pub(super) struct Guarded(pub(super) Server);

impl Service<RoleServer> for Guarded {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let method = request.method().to_owned();
        let answering = Box::pin(AssertUnwindSafe(self.0.handle_request(request, context)));
        let answer = answering.catch_unwind().await;
        answer.unwrap_or_else(|_| Err(ErrorData::internal_error(format!("{method}: internal error"), None)))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
