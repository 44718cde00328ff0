//! The service that answers a request: the server of its credential, or another service.

use rmcp::{RoleServer, Service, ServiceExt as _, service::DynService};

use crate::mcp::Server;

/// The service that answers a request.
pub(super) enum OpenedService {
    /// The server of the credential and the endpoint.
    Server(Server),
    /// A service that is the same for all credentials and endpoints.
    Other(Box<dyn DynService<RoleServer>>),
}

/// Opens a service for each request, in place of the servers of credentials.
pub(super) struct ServiceFactory(Box<dyn Fn() -> OpenedService + Send + Sync>);

impl ServiceFactory {
    pub(super) fn new<S: Service<RoleServer>>(open: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Self(Box::new(move || OpenedService::Other(open().into_dyn())))
    }

    pub(super) fn open(&self) -> OpenedService {
        self.0()
    }
}

impl std::fmt::Debug for ServiceFactory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ServiceFactory")
    }
}
