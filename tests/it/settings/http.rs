//! The values of the settings of `tas-mcp http`.

use tas_mcp::settings::HttpSettings;

use crate::support::service::settings;

/// Returns the settings with one variable, or the message about it.
fn with(name: &str, value: &str) -> Result<HttpSettings, String> {
    let variables = [("TAS_BASE_URL", "https://service.example/api/v1"), (name, value)];
    settings(&variables).http_config().map(|(http, _)| http).map_err(|failure| failure.message)
}

#[test]
fn every_default_is_a_valid_value() {
    let http = with("TAS_HTTP_ADMIN", "").expect("the defaults");

    assert_eq!((http.listen.port(), http.admin.map(|address| address.port())), (8900, Some(8901)));
    assert_eq!(http.drain.as_secs(), 25);
    assert_eq!([http.concurrency, http.rate, http.max_calls].map(u32::from), [64, 20, 512]);
    assert_eq!(with("TAS_HTTP_ADMIN", "off").expect("no admin listener").admin, None);
}

#[test]
fn a_public_url_is_a_secure_origin() {
    for (text, is_usable) in [
        ("https://tas.example.com", true),
        ("https://tas.example.com:8443/", true),
        ("http://127.0.0.1:8900", true),
        ("http://[::1]:8900", true),
        ("http://tas.example.com", false),
        ("https://tas.example.com/mcp", false),
        ("https://tas.example.com/?a=1", false),
        ("https://key@tas.example.com", false),
        ("tas.example.com", false),
    ] {
        assert_eq!(with("TAS_HTTP_PUBLIC_URL", text).is_ok(), is_usable, "{text}");
    }
}

#[test]
fn lists_are_checked_item_by_item() {
    let hosts = with("TAS_HTTP_ALLOWED_HOSTS", " A.example:1 ,,b").expect("hosts").allowed_hosts;
    assert_eq!(hosts, ["a.example:1", "b"]);
    let origins = with("TAS_HTTP_ALLOWED_ORIGINS", "https://A.example:443").expect("origins");
    assert_eq!(
        origins.allowed_origins.iter().map(reqwest::Url::as_str).collect::<Vec<_>>(),
        ["https://a.example/"]
    );
    let networks = with("TAS_HTTP_TRUSTED_PROXIES", "10.0.0.0/8, ::1").expect("networks");
    assert_eq!(networks.trusted_proxies.len(), 2);

    for (name, value, part) in [
        ("TAS_HTTP_ALLOWED_ORIGINS", "https://b.example,a.example", "`a.example` is not an origin"),
        ("TAS_HTTP_ALLOWED_ORIGINS", "https://a.example/path", "is not an origin"),
        ("TAS_HTTP_TRUSTED_PROXIES", "::1,10.0.0.0/33", "`10.0.0.0/33` is not an address or a network"),
        ("TAS_HTTP_RATE", "0", "from 1 to 4294967295"),
        ("TAS_HTTP_DRAIN_S", "601", "from 0 to 600"),
    ] {
        let message = with(name, value).expect_err(value);
        assert!(message.contains(part), "{name}: {message}");
    }
}

#[test]
fn scopes_are_words_without_quotation_marks() {
    let with_scopes = |scopes| {
        let variables = [
            ("TAS_BASE_URL", "https://service.example/api/v1"),
            ("TAS_OAUTH_ISSUER", "https://id.example/"),
            ("TAS_GRANTS_FILE", "grants.toml"),
            ("TAS_OAUTH_SCOPES", scopes),
        ];
        settings(&variables).http_config().map(|(http, _)| http)
    };

    let http = with_scopes("tas:use, tas:admin").expect("scopes");
    let (issuer, _) = http.oauth_issuer.expect("an issuer");
    assert_eq!(
        (issuer.as_str(), &http.oauth_scopes[..]),
        ("https://id.example/", &["tas:use", "tas:admin"].map(str::to_owned)[..])
    );
    assert!(with_scopes("tas\"use").is_err());
}
