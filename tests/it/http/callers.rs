//! The credentials of callers, and the project and tools that they choose.

use serde_json::{Value, json};
use tas_mcp::{
    http::Application,
    sandbox::{keys, seed},
    service::tool::Toolset,
    tools::{catalog, selection::Selection},
};

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of},
    service::Service,
};

/// Starts a server whose settings have no key, and which allows many requests at once.
async fn start() -> (Service, HttpUnderTest) {
    let service = Service::start().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1000")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    (service, server)
}

fn error(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("JSON")
}

#[tokio::test]
async fn a_call_without_a_key_is_a_tool_error_and_lists_are_open() {
    let (service, server) = start().await;
    let listed = json_of(server.modern("/mcp", &[], "tools/list", json!({})).await).await;
    assert!(listed["result"]["tools"].as_array().expect("a list").len() > 30);

    let result = server.call("/mcp", &[], "list_runs", json!({})).await;
    let error = error(&result);
    assert_eq!(error["error"]["code"], "unauthenticated", "{error}");
    assert!(error["error"]["hint"].as_str().expect("a hint").contains("X-Api-Key"), "{error}");
    assert!(service.requests().await.is_empty());
}

/// Headers and credentials choose what a list contains, so that no cache may pass it to another caller.
#[tokio::test]
async fn no_result_may_be_shared_between_callers() {
    let (_service, server) = start().await;
    for method in
        ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
    {
        let response = server.modern("/mcp", &[], method, json!({})).await;
        assert_eq!(response.headers()["cache-control"], "no-store", "{method}");
        assert_eq!(json_of(response).await["result"]["cacheScope"], "private", "{method}");
    }
}

#[tokio::test]
async fn a_key_is_sent_in_either_header() {
    let (_service, server) = start().await;
    let (bearer, lower) = (format!("Bearer {}", keys::DEMO), format!("bEARER {}", keys::DEMO));
    let (key, basic) = (("x-api-key", keys::DEMO), ("authorization", "Basic dXNlcjpwYXNz"));
    let cases: [(&[_], u16, bool); 8] = [
        (&[key], 200, true),
        (&[("authorization", &bearer)], 200, true),
        (&[("authorization", &lower)], 200, true),
        (&[key, ("authorization", &bearer)], 200, true),
        (&[key, basic], 200, true),
        (&[basic], 200, false),
        (&[("x-api-key", keys::ARENA), ("authorization", &bearer)], 400, false),
        (&[("x-api-key", "no key")], 400, false),
    ];
    for (headers, status, is_accepted) in cases {
        let params = json!({"name": "list_runs", "arguments": {"page_size": 1}});
        let response = server.modern("/mcp", headers, "tools/call", params).await;
        assert_eq!(response.status().as_u16(), status, "{headers:?}");
        assert_eq!(json_of(response).await["result"]["isError"] == false, is_accepted, "{headers:?}");
    }

    let unknown = server.call("/mcp", &[("x-api-key", "svc_unknown_key")], "list_runs", json!({})).await;
    assert_eq!(error(&unknown)["error"]["code"], "unauthenticated", "{unknown}");
    assert!(!unknown.to_string().contains("svc_unknown_key"), "{unknown}");
}

#[tokio::test]
async fn address_and_headers_narrow_the_tools() {
    let (_service, server) = start().await;
    let count = async |path: &str, headers: &[(&str, &str)]| {
        let listed = json_of(server.modern(path, headers, "tools/list", json!({})).await).await;
        listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{path}: {listed}")).len()
    };
    let (lean, reading) = (count("/mcp/x/lean", &[]).await, count("/mcp/readonly", &[]).await);
    let cases: [(&str, &[_], usize); 8] = [
        ("/mcp/demo/x/lean/", &[], lean),
        ("/mcp", &[("x-mcp-toolsets", "lean")], lean),
        ("/mcp/x/lean", &[("x-mcp-tools", "get_run, list_bugs")], 1),
        ("/mcp", &[("x-mcp-tools", "delete_test")], 0),
        ("/mcp/x/lean", &[("x-mcp-exclude-tools", "start_run,stop_runs")], lean - 2),
        ("/mcp", &[("x-mcp-readonly", "true")], reading),
        ("/mcp", &[("x-mcp-readonly", "1")], reading),
        ("/mcp/%64emo/x/lean", &[], lean),
    ];
    for (path, headers, expected) in cases {
        assert_eq!(count(path, headers).await, expected, "{path} {headers:?}");
    }
}

#[tokio::test]
async fn an_unknown_address_or_word_is_refused() {
    let service = Service::start().await;
    let variables = [&FREE_PORTS[..], &[("TAS_HTTP_RATE", "1000"), ("TAS_PROJECT_ID", "demo")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    let many = "lean,".repeat(64);
    let cases: [(&str, &[_], u16, &str); 13] = [
        ("/mcp/x", &[], 404, "no such path"),
        ("/mcp/demo/other", &[], 404, "no such path"),
        ("/mcp/readonly/demo", &[], 404, "no such path"),
        ("/mcp//x/lean", &[], 404, "no such path"),
        ("/mcp/%FF", &[], 404, "no such path"),
        ("/mcpx", &[], 404, "no such path"),
        ("/mcp/x/leen", &[], 400, "nearest: `lean`"),
        ("/mcp/arena", &[], 400, "`demo` only"),
        ("/mcp", &[("x-tas-project", "..")], 400, "names no project id"),
        ("/mcp", &[("x-mcp-readonly", "sometimes")], 400, "true or false"),
        ("/mcp", &[("x-mcp-tools", "get_rum")], 400, "`get_rum`"),
        ("/mcp", &[("x-mcp-tools", &many)], 400, "more than 64 words"),
        ("/mcp", &[("x-mcp-exclude-tools", &many)], 400, "words"),
    ];
    for (path, headers, status, expected) in cases {
        let response = server.modern(path, headers, "tools/list", json!({})).await;
        assert_eq!(response.status().as_u16(), status, "{path} {headers:?}");
        let message = json_of(response).await["error"]["message"].to_string();
        assert!(message.contains(expected), "{path} {headers:?}: {message}");
    }
}

#[tokio::test]
async fn the_address_decides_project_and_tools() {
    let (service, server) = start().await;
    let headers = [("x-api-key", keys::ORGANIZATION)];
    let list = json!({"page_size": 1});

    let global = server.call("/mcp", &headers, "list_runs", list.clone()).await;
    assert_eq!(error(&global)["error"]["code"], "project_required", "{global}");
    let scoped =
        server.call(&format!("/mcp/{}/", seed::DEMO_PROJECT), &headers, "list_runs", list.clone()).await;
    assert_eq!(scoped["isError"], false, "{scoped}");
    let by_header = [headers[0], ("x-tas-project", seed::DEMO_PROJECT)];
    let scoped = server.call("/mcp", &by_header, "list_runs", list).await;
    assert_eq!(scoped["isError"], false, "{scoped}");

    let stop = json!({"name": "stop_runs", "arguments": {"job_ids": [seed::TEST_PASSES]}});
    let refused = json_of(server.modern("/mcp/demo/readonly", &headers, "tools/call", stop).await).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .expect("a message")
            .contains("by the address or a header of the request"),
        "{refused}"
    );
    assert!(service.writes().await.is_empty());
}

#[tokio::test]
async fn tools_that_save_local_files_are_not_offered() {
    let service = Service::start().await;
    let variables = [&FREE_PORTS[..], &[("TAS_TOOLSETS", "all")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    let listed = json_of(server.modern("/mcp", &[], "tools/list", json!({})).await).await;
    let text = listed.to_string();

    for tool in ["download_run_files", "upload_build"] {
        assert!(!text.contains(tool), "{tool}");
        let answer = server.modern("/mcp", &[], "tools/call", json!({"name": tool, "arguments": {}})).await;
        assert_eq!(json_of(answer).await["error"]["code"], -32602, "{tool}");
    }
}

#[tokio::test]
async fn listed_texts_name_offered_tools_only() {
    let service = Service::start().await;
    let variables = [&FREE_PORTS[..], &[("TAS_TOOLSETS", "all"), ("TAS_HTTP_RATE", "1000")]].concat();
    let server = HttpUnderTest::start(&service.settings("", &variables));
    let words = ["lean", "default", "all"].into_iter().chain(Toolset::ALL.map(|(_, name)| name));

    for words in words {
        let selection = Selection::parse(words, false).expect("words").without_local_files();
        let path = format!("/mcp/x/{words}");
        for method in ["server/discover", "tools/list", "prompts/list"] {
            let text = json_of(server.modern(&path, &[], method, json!({})).await).await.to_string();
            let names = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
            let tools = names.filter_map(catalog::find_tool).map(|tool| tool.info);
            let unoffered: Vec<_> =
                tools.filter(|tool| !selection.offers(tool)).map(|tool| tool.name).collect();
            assert!(unoffered.is_empty(), "{path} {method}: {unoffered:?}");
        }
    }
}

#[tokio::test]
async fn another_form_of_the_credential_is_named() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    for (value, seen) in [
        ("Token svc_demo", "the scheme `Token`"),
        ("Bearer Bearer svc_demo", "with several"),
        ("svc_demo", "a key without a scheme"),
    ] {
        let refused = server.modern("/mcp", &[("authorization", value)], "tools/list", json!({})).await;
        assert_eq!(refused.status().as_u16(), 400, "{value}");
        let message = json_of(refused).await["error"]["message"].to_string();
        assert!(message.contains(seen) && message.contains("send `Bearer KEY`"), "{message}");
    }
}

#[tokio::test]
async fn a_key_of_the_settings_serves_clients_of_this_machine_only() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings(keys::DEMO, &FREE_PORTS));
    let result = server.call("/mcp", &[], "list_runs", json!({"page_size": 1})).await;
    assert_eq!(result["isError"], false, "{result}");
    for header in [("x-forwarded-for", "::1"), ("x-forwarded-host", "tas.example.com"), ("via", "1.1 proxy")]
    {
        let forwarded = server.modern("/mcp", &[header], "tools/list", json!({})).await;
        assert_eq!(forwarded.status(), 401, "{header:?}");
    }

    for exposing in [
        ("TAS_HTTP_LISTEN", "0.0.0.0:0"),
        ("TAS_HTTP_PUBLIC_URL", "https://tas.example.com"),
        ("TAS_HTTP_TRUSTED_PROXIES", "127.0.0.1"),
        ("TAS_HTTP_ALLOWED_HOSTS", "localhost:80,tas.example.com"),
    ] {
        let refused =
            Application::from_settings(&service.settings(keys::DEMO, &[exposing])).expect_err("a refusal");
        assert!(refused.message.contains("would serve everybody"), "{refused}");
        assert!(Application::from_settings(&service.settings("", &[exposing])).is_ok(), "{exposing:?}");
    }
}

#[tokio::test]
async fn every_unusable_setting_is_named() {
    let service = Service::start().await;
    let variables = [
        ("TAS_HTTP_LISTEN", "everywhere"),
        ("TAS_HTTP_PUBLIC_URL", "http://tas.example.com"),
        ("TAS_HTTP_RATE", "0"),
        ("TAS_HTTP_TRUSTED_PROXIES", "10.0.0.0/99"),
        ("TAS_TOOLSETS", "leen"),
    ];
    let refused = Application::from_settings(&service.settings("", &variables)).expect_err("a refusal");

    for (name, _) in variables {
        assert!(refused.message.contains(name), "{name}: {refused}");
    }
}
