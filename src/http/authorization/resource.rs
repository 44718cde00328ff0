//! The endpoint as a protected resource: its public address, and its metadata (RFC 9728).

use http::{HeaderMap, Uri, header};
use serde_json::{Value, json};
use url::Url;

use crate::settings::OauthSettings;

/// Path before the path of an endpoint, at which the metadata of the endpoint is.
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// Returns the path of the endpoint whose metadata is at `path`.
pub(in crate::http) fn endpoint_of_metadata(path: &str) -> Option<&str> {
    path.strip_prefix(METADATA_PATH).filter(|endpoint| endpoint.starts_with('/'))
}

/// An endpoint with its public address.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) struct Resource {
    origin: String,
    /// The path without a slash at the end.
    path: String,
}

impl Resource {
    /// Returns the endpoint at `path`. Without a public URL the origin is that of the request, whose host is a known one.
    pub(in crate::http) fn new(public_url: Option<&Url>, uri: &Uri, headers: &HeaderMap, path: &str) -> Self {
        let requested_host = || {
            let header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
            uri.authority().map(http::uri::Authority::as_str).or(header).unwrap_or_default().to_owned()
        };
        let origin = match public_url {
            Some(url) => url.origin().ascii_serialization(),
            None => format!("http://{}", requested_host()),
        };
        Self { origin, path: path.trim_end_matches('/').to_owned() }
    }

    fn address(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    /// Returns the address of the metadata.
    pub(super) fn metadata_address(&self) -> String {
        format!("{}{METADATA_PATH}{}", self.origin, self.path)
    }

    /// Returns the audiences of the tokens that this endpoint accepts: its address, the preferred one, and the addresses
    /// above it.
    pub(super) fn audiences(&self) -> Vec<String> {
        let mut audiences = vec![self.address()];
        let ends = self.path.rmatch_indices('/').map(|(index, _)| index);
        for end in ends {
            let parent = self.path.get(..end).unwrap_or_default();
            audiences.push(format!("{}{parent}", self.origin));
        }

        let with_slash: Vec<_> = audiences.iter().map(|audience| format!("{audience}/")).collect();
        audiences.extend(with_slash);
        audiences
    }

    /// Returns the metadata document.
    pub(super) fn metadata(&self, settings: &OauthSettings) -> Value {
        json!({
            "resource": self.address(),
            "resource_name": "Test Automation Service",
            "authorization_servers": [settings.issuer],
            "scopes_supported": settings.scopes,
            "bearer_methods_supported": ["header"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_for_an_endpoint_or_an_address_above_it_are_accepted() {
        let public = Url::parse("https://tas.example.com").expect("an address");
        let resource = Resource::new(Some(&public), &Uri::from_static("/"), &HeaderMap::new(), "/mcp/demo/");

        assert_eq!(
            resource.audiences(),
            [
                "https://tas.example.com/mcp/demo",
                "https://tas.example.com/mcp",
                "https://tas.example.com",
                "https://tas.example.com/mcp/demo/",
                "https://tas.example.com/mcp/",
                "https://tas.example.com/",
            ]
        );
    }

    #[test]
    fn metadata_is_below_the_well_known_path() {
        let cases = [
            ("/.well-known/oauth-protected-resource/mcp/demo", Some("/mcp/demo")),
            ("/.well-known/oauth-protected-resource", None),
            ("/.well-known/oauth-protected-resources/mcp", None),
            ("/mcp", None),
        ];
        for (path, expected) in cases {
            assert_eq!(endpoint_of_metadata(path), expected, "{path}");
        }
    }

    #[test]
    fn without_a_public_url_the_host_of_the_request_counts() {
        let headers =
            HeaderMap::from_iter([(header::HOST, http::HeaderValue::from_static("localhost:8900"))]);
        let resource = Resource::new(None, &Uri::from_static("/mcp"), &headers, "/mcp");

        assert_eq!(
            resource.metadata_address(),
            "http://localhost:8900/.well-known/oauth-protected-resource/mcp"
        );
    }
}
