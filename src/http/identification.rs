//! The caller of a request, by the credential of the request.

use std::{net::IpAddr, sync::Arc};

use axum::body::Body;
use http::{HeaderMap, Method, Response, request::Parts};

use super::{
    application::Application,
    authorization::{Resource, endpoint_of_metadata},
    credential::{self, Credential},
    endpoint::Endpoint,
    limits::Exceeded,
    refusal::Refusal,
    tenants::Tenant,
};

impl Application {
    /// Returns the caller of a request from the client at `address`.
    ///
    /// # Errors
    /// Status 400 for an unusable credential, and those of [`sign_in`](super::authorization::Authorization::sign_in).
    pub(super) async fn identify(&self, request: &Parts, address: IpAddr) -> Result<Arc<Tenant>, Refusal> {
        let credential = credential::read(&request.uri, &request.headers, self.0.authorization.is_some())?;
        let tenants = &self.0.tenants;
        let Some(authorization) = &self.0.authorization else {
            return Ok(match credential {
                Some(Credential::Key(key)) => tenants.tenant(&key),
                _ => tenants.anonymous(),
            });
        };

        let resource = self.resource(request, request.uri.path());
        let refusal = match credential {
            Some(Credential::Key(key)) => return Ok(tenants.tenant(&key)),
            Some(Credential::UserToken(token)) => {
                match authorization.sign_in(token.expose(), &resource).await {
                    Ok(person) => return Ok(tenants.tenant_of_person(&person)),
                    Err(refusal) => refusal,
                }
            }
            None => authorization.require_sign_in(&resource),
        };

        // Guesses of tokens count towards the limits of the address.
        let admission = tenants.limits_of_address(address).admit(&self.0.places);
        Err(admission.map_or_else(Exceeded::refusal, |_| refusal))
    }

    /// Returns the answer to a request for the metadata of an endpoint; `None` for another request.
    pub(super) fn metadata_response(&self, request: &Parts) -> Option<Response<Body>> {
        let path = endpoint_of_metadata(request.uri.path()).filter(|_| request.method == Method::GET)?;
        let authorization = self.0.authorization.as_ref()?;
        Endpoint::read(path, &HeaderMap::new(), &self.0.offered).ok()?;
        Some(authorization.metadata_response(&self.resource(request, path)))
    }

    fn resource(&self, request: &Parts, path: &str) -> Resource {
        Resource::new(self.0.settings.public_url.as_ref(), &request.uri, &request.headers, path)
    }
}
