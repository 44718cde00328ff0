//! Redirects of files to storage: followed without the key, and only to where requests may go.

use http::{HeaderMap, StatusCode, header};
use reqwest::{Response, Url};

use super::{pools::Pools, transport::TransportError};
use crate::client::{is_loopback, is_safe};

/// Most redirects that are followed, one after the other.
const MOST_REDIRECTS: usize = 3;

/// The answer at the end of redirects.
pub(super) struct Followed {
    pub(super) response: Response,
    /// Whether it comes from elsewhere.
    pub(super) is_elsewhere: bool,
    /// Why it is a redirect still.
    pub(super) obstacle: Option<String>,
}

/// Follows redirects to a file, without the key; `headers` say which part of it is wanted.
pub(super) async fn followed(
    mut response: Response,
    headers: &HeaderMap,
    pools: &Pools,
) -> Result<Followed, TransportError> {
    let (mut redirects, mut obstacle) = (0, None);
    while leads_on(response.status()) {
        match target(&response) {
            Ok(_) if redirects == MOST_REDIRECTS => {
                obstacle = Some(format!("leads on after {MOST_REDIRECTS} redirects"));
                break;
            }
            Ok(target) => {
                let pool = pools.of(target.scheme() == "http", is_loopback(&target))?;
                response = pool.get(target).headers(headers.clone()).send().await?;
                redirects += 1;
            }
            Err(why) => {
                obstacle = Some(why);
                break;
            }
        }
    }

    Ok(Followed { response, is_elsewhere: redirects > 0, obstacle })
}

fn leads_on(status: StatusCode) -> bool {
    status.is_redirection() && status != StatusCode::NOT_MODIFIED
}

/// Where a redirect leads, or why it is not followed. The query is not told: it may be as good as a key.
fn target(response: &Response) -> Result<Url, String> {
    let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or("names no address in `Location`")?;
    let target = response.url().join(location).map_err(|_| "names no usable address in `Location`")?;
    if is_safe(&target) {
        return Ok(target);
    }

    let (scheme, host) = (target.scheme(), target.host_str().unwrap_or_default());

    Err(format!("leads to `{scheme}://{host}`, and only https is followed"))
}
