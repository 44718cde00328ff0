//! Answers of the service and of the storage host that cannot be followed.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{UploadFixture, bytes, text};
use crate::support::{host::Host, stub::Stub};

/// The answer to an initiation that can be followed, for three bytes.
fn initiated() -> Value {
    json!({"build_id": "b", "upload_id": "u", "object_key": "o", "total_parts": 3, "part_size": 1})
}

/// A service with these answers; how the upload of three bytes fails there, and what was sent.
async fn failing(initiation: Value, parts: Value) -> (Value, Vec<String>) {
    let stub = Stub::start(move |target| {
        let answer = match target.split(' ').next() {
            Some("POST") => initiation.clone(),
            Some("GET") => parts.clone(),
            _ => json!({"success": true}),
        };
        std::future::ready((200, answer))
    })
    .await;

    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");

    let (root, state) = (super::text_of(&fixture.root), super::text_of(&fixture.state));
    let own =
        [("TAS_FILES_ROOT", root.as_str()), ("TAS_STATE_DIR", state.as_str()), ("TAS_PROJECT_ID", "demo")];
    let settings = stub.settings(keys::DEMO, &own).with_upload_timing(super::short_pauses());
    let error = Host::open(&settings).await.fail("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(fixture.journals(), [""; 0], "{error}");
    (error, stub.requests())
}

fn with(mut answer: Value, name: &str, value: Value) -> Value {
    answer[name] = value;
    answer
}

#[tokio::test]
async fn an_upload_with_an_inconsistent_plan_is_cancelled() {
    let wrong_count = "says 2 parts of 1 bytes, which is not the file's 3 bytes";
    let cases = [
        (with(initiated(), "part_size", json!(0)), "says 3 parts of 0 bytes"),
        (with(initiated(), "total_parts", json!(2)), wrong_count),
        (with(initiated(), "total_parts", json!(4)), "says 4 parts"),
        (with(initiated(), "total_parts", json!(0)), "says 0 parts"),
        (with(initiated(), "part_size", json!(-1)), "lacks `part_size`"),
        (with(initiated(), "total_parts", Value::Null), "lacks `total_parts`"),
    ];

    for (initiation, why) in cases {
        let (error, requests) = failing(initiation, Value::Null).await;

        assert_eq!(error["code"], "bad_response", "{error}");
        assert!(text(&error["message"]).contains(why), "{error}");
        assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");

        let expected = [
            "POST /project/demo/builds/upload",
            "DELETE /project/demo/builds/upload?build_id=b&object_key=o&upload_id=u",
        ];

        assert_eq!(requests, expected, "{error}");
    }
}

#[tokio::test]
async fn a_single_part_upload_without_an_address_is_cancelled() {
    let answer = json!({"build_id": "b", "object_key": "o", "upload_type": "single-part"});
    let (error, requests) = failing(answer, Value::Null).await;
    assert!(text(&error["message"]).contains("lacks `upload_url`"), "{error}");
    assert_eq!(requests[1], "DELETE /project/demo/builds/upload?build_id=b&object_key=o");
}

#[tokio::test]
async fn an_initiation_without_ids_warns_about_reserved_space() {
    for lacking in ["upload_id", "object_key"] {
        let mut answer = with(initiated(), "upload_type", json!("multipart"));
        answer.as_object_mut().expect("an object").remove(lacking);
        let (error, requests) = failing(answer, Value::Null).await;
        assert_eq!(error["code"], "bad_response");
        assert!(text(&error["message"]).contains(&format!("lacks `{lacking}`")), "{error}");
        let cancels = lacking == "upload_id";
        assert_eq!(requests.len(), 1 + usize::from(cancels));
        assert_eq!(
            error["hint"].as_str().is_some_and(|hint| hint.starts_with("storage space may be")),
            !cancels
        );
    }
}

fn urls(list: &[(u64, &str)]) -> Value {
    let urls = list.iter().map(|(number, url)| json!({"part_number": number, "url": url}));
    json!({"upload_urls": urls.collect::<Vec<_>>()})
}

#[tokio::test]
async fn unusable_part_addresses_end_the_upload() {
    let good = "http://127.0.0.1:9/1";
    let cases = [
        (urls(&[]), "the answer names none"),
        (urls(&[(1, good), (2, good)]), "one address of part 3 was asked for, and the answer names none"),
        (
            urls(&[(1, good), (2, good), (2, good), (3, good)]),
            "one address of part 2 was asked for, and the answer names several",
        ),
        (json!({"upload_urls": [{"part_number": 1}]}), "the answer names none"),
        (json!({"upload_urls": "none"}), "the answer names none"),
        (urls(&[(1, "ftp://127.0.0.1/1"), (2, good), (3, good)]), "must use https"),
        (urls(&[(1, "http://storage.example/1"), (2, good), (3, good)]), "must use https"),
        (urls(&[(1, "file:///etc/passwd"), (2, good), (3, good)]), "must use https"),
        (urls(&[(1, "nowhere"), (2, good), (3, good)]), "is not an address"),
    ];

    for (parts, why) in cases {
        let (error, requests) = failing(initiated(), parts.clone()).await;
        assert!(text(&error["message"]).contains(why), "{parts}: {error}");
        assert_eq!(error["code"], "bad_response", "{error}");
        assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
        assert_eq!(requests.len(), 3, "{requests:?}");
    }
}

#[tokio::test]
async fn an_accepted_part_without_an_etag_ends_the_upload() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", &bytes(2_500));

    for headers in [json!({}), json!({"etag": "\"\""})] {
        let fault = json!({"operation": "put_part", "status": 200, "headers": headers});
        fixture.service.fault(fault).await;
        let error = fixture.host().await.fail("upload_build", json!({"path": "game.apk"})).await;
        assert_eq!(error["code"], "bad_response");
        assert!(text(&error["message"]).contains("answered 200 OK without an ETag"), "{error}");
        assert_eq!((fixture.leftovers().await, fixture.journals()), ((0, 0), vec![]));
    }
}

/// The sandbox compares the tags, and would refuse this one with its quotes too.
#[tokio::test]
async fn etags_are_kept_without_quotes() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");

    let weak =
        json!({"operation": "put_part", "headers": {"etag": "W/\"900150983cd24fb0d6963f7d28e17f72\""}});
    fixture.service.fault(weak).await;

    let build = fixture.host().await.succeed("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(fixture.service.content(text(&build["build_id"])).await, Some(b"abc".to_vec()));
}

#[tokio::test]
async fn errors_contain_neither_the_key_nor_addresses() {
    let fixture = UploadFixture::open().await;
    fixture.write("game.apk", b"abc");
    for fault in
        [json!({"status": 500}), json!({"reset": true}), json!({"status": 403}), json!({"status": 404})]
    {
        let mut fault = fault;
        fault["operation"] = json!("put_part");
        fault["times"] = json!(10);
        fixture.service.fault(fault.clone()).await;
        let error = fixture.host().await.fail("upload_build", json!({"path": "game.apk"})).await.to_string();
        fixture.service.heal().await;
        assert!(!error.contains("X-Amz") && !error.contains(keys::DEMO), "{fault}: {error}");
    }
}
