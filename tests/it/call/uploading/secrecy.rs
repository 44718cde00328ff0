//! No key goes to the route of the part addresses or to the storage host (service.md 1.2, 10.6).

use serde_json::{Value, json};

use super::{build, file, fixture, upload_build};
use crate::support::fixture::Session;

/// Every request with the id of its key.
async fn requests_with_keys(service: &crate::support::service::Service) -> Vec<(String, Value)> {
    let log = service.control("requests").await;
    let short = |seen: &Value| {
        let path = seen["path"].as_str().expect("a path").split('?').next().unwrap_or_default();
        let path = path.trim_start_matches("/api/v1").split('/').take(4).collect::<Vec<_>>().join("/");
        (
            format!("{} {path} {}", seen["method"].as_str().expect("a method"), seen["status"]),
            seen["key"].clone(),
        )
    };

    log["data"].as_array().expect("a list").iter().map(short).collect()
}

#[tokio::test]
async fn only_the_main_api_gets_the_key() {
    let Session { service, mut host, .. } = fixture().open().await;
    upload_build(&mut host, &file(1_500)).await;

    let (own, none) = (json!("key_demo"), Value::Null);
    let seen = requests_with_keys(&service).await;
    let build = seen.iter().find_map(|(line, _)| line.strip_prefix("PUT ")).expect("a part").to_owned();
    let build = format!("PUT {build}");
    let expected = [
        // The server looks up the project of the key once, with the key.
        ("GET /runs 200", &own),
        ("POST /project/demo/builds 200", &own),
        ("GET /project/demo/builds 200", &none),
        (&build, &none),
        (&build, &none),
        ("POST /builds/upload/complete 200", &own),
    ]
    .map(|(line, key)| (line.to_owned(), key.clone()));

    assert_eq!(seen, expected);
}

#[tokio::test]
async fn the_upload_id_authorizes_requests_for_part_urls() {
    let Session { service, mut host, .. } = fixture().open().await;
    let upload = host.succeed("initiate_build_upload", build(3)).await;
    let query = format!(
        "upload_id={}&object_key={}",
        upload["upload_id"].as_str().expect("a text"),
        upload["object_key"].as_str().expect("a text").replace(' ', "%20")
    );

    for (project, status) in [("demo", 200), ("arena", 400), ("nowhere", 400)] {
        let url =
            format!("{}/project/{project}/builds/upload/parts?{query}&part_numbers=1", service.base_url());
        let client = crate::support::plain_client().build().expect("a client");
        assert_eq!(client.get(url).send().await.expect("an answer").status(), status, "{project}");
    }
}
