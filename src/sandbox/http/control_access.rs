//! Who may use the control routes. They need no key, so that a page in a browser on the same machine must not reach
//! them.

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, StatusCode, header, uri::Authority};

use super::reply::BufferedReply;

/// Refuses requests that a page in a browser could have caused: those whose `Host` is a domain, which could belong to
/// the page (DNS rebinding), and those with the `Origin` of another host.
pub(super) async fn require_local_caller(request: Request, next: Next) -> Response {
    match access_problem(request.headers()) {
        None => next.run(request).await,
        Some(problem) => BufferedReply::error(StatusCode::FORBIDDEN, problem).into_response(),
    }
}

/// Returns why a request is refused, or `None` if it is not.
fn access_problem(headers: &HeaderMap) -> Option<&'static str> {
    let Some(host) = text(headers, &header::HOST).and_then(|host| host.parse::<Authority>().ok()) else {
        return Some("the header Host is missing or invalid");
    };
    if is_domain(host.host()) {
        return Some("the header Host must be an address or a name without dots");
    }

    let origin = headers.get(header::ORIGIN)?;
    let is_same = origin.to_str().is_ok_and(|origin| origin == format!("http://{host}"));

    (!is_same).then_some("requests of pages of another origin are refused")
}

/// Returns whether `host` is a name with dots, which anybody can register. An address and a name of the local network
/// are not.
fn is_domain(host: &str) -> bool {
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    !is_address && host.trim_end_matches('.').contains('.')
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_no_foreign_page_can_cause_are_allowed() {
        let cases = [
            ("127.0.0.1:8080", None, true),
            ("localhost:8080", None, true),
            ("[::1]:8080", None, true),
            ("buildbox:8080", None, true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:8080"), true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:9090"), false),
            ("127.0.0.1:8080", Some("https://attacker.example"), false),
            ("127.0.0.1:8080", Some("null"), false),
            ("attacker.example:8080", None, false),
            ("attacker.example:8080", Some("http://attacker.example:8080"), false),
            ("", None, false),
        ];

        for (host, origin, is_allowed) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("a header"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().expect("a header"));
            }
            assert_eq!(access_problem(&headers).is_none(), is_allowed, "{host} {origin:?}");
        }
    }
}
