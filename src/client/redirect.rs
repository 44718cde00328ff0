//! Redirects of files to the storage host: followed without the API key, and only to addresses that requests may be
//! sent to.

use http::{HeaderMap, StatusCode, header};
use reqwest::{Response, Url};

use super::{
    AddressPolicy, PresignedAddress, http_clients::HttpClients, http_response::header_text,
    transport_error::TransportError,
};

/// Maximum number of redirects that are followed for one file.
const MAX_REDIRECTS: usize = 3;

/// The response at the end of a chain of redirects.
pub(super) struct FinalResponse {
    pub(super) response: Response,
    /// The address that the response came from, if it is another one than the request was sent to.
    pub(super) redirected_to: Option<PresignedAddress>,
    /// Why the last redirect was not followed, if the response is a redirect.
    pub(super) redirect_error: Option<String>,
}

/// Follows redirects to a file, without the API key. `headers` request the wanted part of the file.
pub(super) async fn follow_redirects(
    mut response: Response,
    headers: &HeaderMap,
    http_clients: &HttpClients,
) -> Result<FinalResponse, TransportError> {
    let mut redirects = 0;
    let mut redirect_error = None;

    while is_redirect(response.status()) {
        let target = match redirect_target(&response, http_clients.policy()) {
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
        response = client.get(target).headers(headers.clone()).send().await?;
        redirects += 1;
    }

    let redirected_to = (redirects > 0).then(|| PresignedAddress::new(response.url().clone()));
    Ok(FinalResponse { response, redirected_to, redirect_error })
}

/// Returns the address that a response redirects to, if it is a redirect that is followed.
pub(super) fn followed_address(response: &Response, policy: AddressPolicy) -> Option<PresignedAddress> {
    let target = is_redirect(response.status()).then(|| redirect_target(response, policy).ok())??;
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
fn redirect_target(response: &Response, policy: AddressPolicy) -> Result<Url, String> {
    let location = header_text(response.headers(), header::LOCATION);
    let location = location.ok_or("names no address in `Location`")?;
    let target = response.url().join(location).map_err(|_| "names no usable address in `Location`")?;
    let Err(rule) = policy.check(&target) else { return Ok(target) };

    let (scheme, host) = (target.scheme(), target.host_str().unwrap_or_default());
    Err(format!("leads to `{scheme}://{host}`, and is not followed: the address {rule}"))
}
