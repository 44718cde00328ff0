//! The route of the part addresses takes no key (service.md 1.2, 10.6).

use super::{build, fixture};
use crate::support::fixture::Session;

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
