//! Finds the presigned address of a file without reading the file.

use url::Url;

use super::{
    ApiKey, HttpRequest, PresignedAddress, ServiceClient,
    byte_range::part_headers,
    redirect::followed_address,
    transport::{Transport, limit_time},
    transport_error::TransportError,
};
use crate::service::request::FileRange;

/// The part that is requested: the service redirects every request for a file that the storage host has.
const FIRST_BYTE: FileRange = FileRange { offset: 0, length: 1 };

impl ServiceClient {
    /// Returns the presigned address of a file, in one attempt. Returns `None` if the file is read with the API key only,
    /// or if the service does not respond. `listed_url` is the address that the service lists for the file.
    pub async fn presigned_address(
        &self,
        request: &HttpRequest<'_>,
        listed_url: Option<&str>,
        key: &ApiKey,
    ) -> Option<PresignedAddress> {
        let transport = self.transport(request).ok()?;
        let listed_url = listed_url.and_then(|url| transport.policy().parse(url).ok());
        // The key is not for other hosts, so that their addresses work without it.
        if let Some(url) = listed_url.as_ref().filter(|url| !transport.url().has_origin_of(url)) {
            return Some(PresignedAddress::new(url.clone()));
        }

        transport.redirect_of(request, listed_url.as_ref(), key).await.ok()?
    }
}

impl Transport {
    /// Requests a file from the host of this transport and returns the address that the response redirects to.
    async fn redirect_of(
        &self,
        request: &HttpRequest<'_>,
        address: Option<&Url>,
        key: &ApiKey,
    ) -> Result<Option<PresignedAddress>, TransportError> {
        let own = format!("{}{}", self.url().as_str(), request.path_and_query);
        let address = address.map_or(own.as_str(), Url::as_str);
        let range = part_headers(FIRST_BYTE);
        let exchange = self.request_with_key(request, address, Some(&range), key);

        let response = limit_time(self.timeout(), exchange).await?;
        Ok(followed_address(&response.head, self.policy()))
    }
}
