//! Where requests may be sent.

use tas_mcp::client::HostUrl;

#[test]
fn https_is_allowed_for_any_host_and_http_for_the_loopback_only() {
    for text in [
        "https://service.example/api/v1",
        "https://service.example:8443/tas/api/v1",
        "https://10.0.0.7/api/v1/",
        "HTTPS://Service.Example/api/v1",
        "http://127.0.0.1:8080/api/v1",
        "http://127.8.9.1/api/v1",
        "http://[::1]:8080/api/v1",
        "http://localhost/api/v1",
    ] {
        let address = HostUrl::main(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert!(address.as_str().ends_with("/api/v1"), "{address:?}");
    }

    for text in [
        "http://service.example/api/v1",
        "http://10.0.0.7/api/v1",
        "http://0.0.0.0/api/v1",
        "http://localhost.example/api/v1",
        "http://127.0.0.1.example/api/v1",
        "ftp://service.example/api/v1",
        "file:///api/v1",
    ] {
        let problem = HostUrl::main(text).expect_err(text);
        assert!(problem.contains("must use https"), "{text}: {problem}");
    }
}

#[test]
fn other_forms_are_refused_with_the_reason() {
    let cases = [
        (
            "https://service.example",
            "`https://service.example` must end in /api/v1; is it `https://service.example/api/v1`?",
        ),
        (
            "https://service.example/api/v2",
            "`https://service.example/api/v2` must end in /api/v1; is it `https://service.example/api/v1`?",
        ),
        (
            "https://service.example/api/v1/runs",
            "`https://service.example/api/v1/runs` must end in /api/v1; is it `https://service.example/api/v1`?",
        ),
        ("https://me:svc_secret@service.example/api/v1", "must not hold a user name or password"),
        ("https://svc_secret@service.example/api/v1", "must not hold a user name or password"),
        (
            "https://service.example/api/v1?key=svc_secret",
            "`https://service.example/api/v1` must not have a query or fragment",
        ),
        (
            "https://service.example/api/v1#svc_secret",
            "`https://service.example/api/v1` must not have a query or fragment",
        ),
        ("service.example/api/v1", "is not an address: relative URL without a base"),
        ("svc_secret", "is not an address: relative URL without a base"),
        ("https://", "is not an address: empty host"),
    ];

    for (text, expected) in cases {
        assert_eq!(HostUrl::main(text).expect_err(text), expected, "{text}");
    }
}
