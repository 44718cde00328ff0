//! Answers a request whose handler panics with an internal error. Without an answer the host would wait forever.

use std::{borrow::Cow, panic::AssertUnwindSafe};

use futures_util::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, Service,
    model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult},
    service::{NotificationContext, RequestContext},
};

/// A service that answers every request, even if its handler panics.
#[derive(Debug)]
pub struct PanicGuard<S>(pub S);

impl<S: Service<RoleServer>> Service<RoleServer> for PanicGuard<S> {
    fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ServerResult, ErrorData>> + Send {
        let method = request.method().to_owned();
        let handler = AssertUnwindSafe(self.0.handle_request(request, context)).catch_unwind();

        handler.map(move |result| {
            result
                .unwrap_or_else(|_| Err(ErrorData::internal_error(format!("{method}: internal error"), None)))
        })
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
