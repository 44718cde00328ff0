//! Redirects of files to the storage host: followed without the API key, and only to addresses that requests may be
//! sent to.

use http::{HeaderMap, StatusCode, header};
use url::Url;

use super::{
    AddressPolicy, PresignedAddress, http_client::IncomingResponse, http_clients::HttpClients,
    response_head::ResponseHead, transport_error::TransportError,
};

/// Maximum number of redirects that are followed for one file.
const MAX_REDIRECTS: usize = 3;

/// The response at the end of a chain of redirects.
pub(super) struct FinalResponse {
    pub(super) response: IncomingResponse,
    /// The address that the response came from, if it is another one than the request was sent to.
    pub(super) redirected_to: Option<PresignedAddress>,
    /// Why the last redirect was not followed, if the response is a redirect.
    pub(super) redirect_error: Option<String>,
}

/// Follows redirects to a file, without the API key. `headers` request the wanted part of the file.
pub(super) async fn follow_redirects(
    mut response: IncomingResponse,
    headers: &HeaderMap,
    http_clients: &HttpClients,
) -> Result<FinalResponse, TransportError> {
    let mut redirects = 0;
    let (mut redirected_to, mut redirect_error) = (None, None);

    while is_redirect(response.head.status) {
        let target = match redirect_target(&response.head, http_clients.policy()) {
            Ok(_) if redirects == MAX_REDIRECTS => {
                redirect_error = Some(format!("leads to another redirect after {MAX_REDIRECTS} redirects"));
                break;
            }
            Ok(target) => target,
            Err(reason) => {
                redirect_error = Some(reason);
                break;
            }
        };

        let client = http_clients.for_named_address(&target)?;
        response = client.get(target.as_str(), headers.clone()).await?;
        redirected_to = Some(PresignedAddress::new(target));
        redirects += 1;
    }

    Ok(FinalResponse { response, redirected_to, redirect_error })
}

/// Returns the address that a response redirects to, if it is a redirect that is followed.
pub(super) fn followed_address(head: &ResponseHead, policy: AddressPolicy) -> Option<PresignedAddress> {
    let target = is_redirect(head.status).then(|| redirect_target(head, policy).ok())??;
    Some(PresignedAddress::new(target))
}

fn is_redirect(status: StatusCode) -> bool {
    // 304 is a 3xx status without a target.
    status.is_redirection() && status != StatusCode::NOT_MODIFIED
}

/// Returns the address that a redirect leads to.
///
/// # Errors
/// Describes why the redirect is not followed. The description leaves out the query, which may be a credential.
fn redirect_target(head: &ResponseHead, policy: AddressPolicy) -> Result<Url, String> {
    let location = head.text(header::LOCATION).ok_or("names no address in `Location`")?;
    let target = head.resolve(location).ok_or("names no usable address in `Location`")?;
    let Err(rule) = policy.check(&target) else { return Ok(target) };

    let (scheme, host) = (target.scheme(), target.host_str().unwrap_or_default());
    Err(format!("leads to `{scheme}://{host}`, and is not followed: the address {rule}"))
}
