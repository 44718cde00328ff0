//! Unusable answers of the service and of the storage host.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::{bytes, fixture, text};
use crate::support::stub::Stub;

/// Returns a usable answer to the initiation of an upload of three bytes.
fn initiation_answer() -> Value {
    json!({"build_id": "b", "upload_id": "u", "object_key": "o", "total_parts": 3, "part_size": 1})
}

/// Uploads three bytes to a service with these answers, which must fail. Returns the error and the requests.
async fn upload_failure(initiation: Value, parts: Value) -> (Value, Vec<String>) {
    let stub = Stub::start(move |target| {
        let answer = match target.split(' ').next() {
            Some("POST") => initiation.clone(),
            Some("GET") => parts.clone(),
            _ => json!({"success": true}),
        };
        std::future::ready((200, answer))
    })
    .await;

    let mut session = fixture().variables(&[("TAS_PROJECT_ID", "demo")]).open_with(stub).await;
    session.write("game.apk", b"abc");

    let error = session.host.fail("upload_build", json!({"path": "game.apk"})).await;

    assert_eq!(session.states(), [""; 0], "{error}");
    (error, session.service.requests())
}

/// Returns an answer with another value of a field.
fn with(mut answer: Value, name: &str, value: Value) -> Value {
    answer[name] = value;
    answer
}

#[tokio::test]
async fn an_upload_with_an_inconsistent_plan_is_cancelled() {
    let wrong_count = "states 2 parts of 1 bytes, which does not match the 3 bytes of the file";
    let cases = [
        (with(initiation_answer(), "part_size", json!(0)), "states 3 parts of 0 bytes"),
        (with(initiation_answer(), "total_parts", json!(2)), wrong_count),
        (with(initiation_answer(), "total_parts", json!(4)), "states 4 parts"),
        (with(initiation_answer(), "total_parts", json!(0)), "states 0 parts"),
        (with(initiation_answer(), "part_size", json!(-1)), "lacks `part_size`"),
        (with(initiation_answer(), "total_parts", Value::Null), "lacks `total_parts`"),
    ];

    for (initiation, problem) in cases {
        let (error, requests) = upload_failure(initiation, Value::Null).await;

        assert_eq!(error["code"], "bad_response", "{error}");
        assert!(text(&error["message"]).contains(problem), "{error}");
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
    let (error, requests) = upload_failure(answer, Value::Null).await;
    assert!(text(&error["message"]).contains("lacks `upload_url`"), "{error}");
    assert_eq!(requests[1], "DELETE /project/demo/builds/upload?build_id=b&object_key=o");
}

#[tokio::test]
async fn an_initiation_without_ids_warns_about_reserved_space() {
    for lacking in ["upload_id", "object_key"] {
        let mut answer = with(initiation_answer(), "upload_type", json!("multipart"));
        answer.as_object_mut().expect("an object").remove(lacking);

        let (error, requests) = upload_failure(answer, Value::Null).await;

        assert_eq!(error["code"], "bad_response");
        assert!(text(&error["message"]).contains(&format!("lacks `{lacking}`")), "{error}");

        // An upload without an id may have one part, and can be cancelled.
        let cancels = lacking == "upload_id";

        assert_eq!(requests.len(), 1 + usize::from(cancels));
        assert_eq!(
            error["hint"].as_str().is_some_and(|hint| hint.starts_with("storage space may be")),
            !cancels
        );
    }
}

/// Returns the answer with these part numbers and addresses.
fn urls(list: &[(u64, &str)]) -> Value {
    let urls = list.iter().map(|(number, url)| json!({"part_number": number, "url": url}));
    json!({"upload_urls": urls.collect::<Vec<_>>()})
}

#[tokio::test]
async fn unusable_part_addresses_end_the_upload() {
    let good = "http://127.0.0.1:9/1";
    let cases = [
        (urls(&[]), "the answer contains none"),
        (urls(&[(1, good), (2, good)]), "one address of part 3 was requested, but the answer contains none"),
        (
            urls(&[(1, good), (2, good), (2, good), (3, good)]),
            "one address of part 2 was requested, but the answer contains several",
        ),
        (json!({"upload_urls": [{"part_number": 1}]}), "the answer contains none"),
        (json!({"upload_urls": "none"}), "the answer contains none"),
        (urls(&[(1, "ftp://127.0.0.1/1"), (2, good), (3, good)]), "must use https"),
        (urls(&[(1, "http://storage.example/1"), (2, good), (3, good)]), "must use https"),
        (urls(&[(1, "file:///etc/passwd"), (2, good), (3, good)]), "must use https"),
        (urls(&[(1, "nowhere"), (2, good), (3, good)]), "is not an address"),
    ];

    for (parts, problem) in cases {
        let (error, requests) = upload_failure(initiation_answer(), parts.clone()).await;
        assert!(text(&error["message"]).contains(problem), "{parts}: {error}");
        assert_eq!(error["code"], "bad_response", "{error}");
        assert_eq!(error["details"]["upload"], "cancelled: nothing remains at the service");
        assert_eq!(requests.len(), 3, "{requests:?}");
    }
}

#[tokio::test]
async fn an_accepted_part_without_an_etag_ends_the_upload() {
    let mut session = fixture().open().await;
    session.write("game.apk", &bytes(2_500));

    for headers in [json!({}), json!({"etag": "\"\""})] {
        let fault = json!({"operation": "put_part", "status": 200, "headers": headers});
        session.service.fault(fault).await;
        let error = session.upload_failure("game.apk").await;
        assert_eq!(error["code"], "bad_response");
        assert!(text(&error["message"]).contains("answered 200 OK without an ETag"), "{error}");
        assert_eq!((session.leftovers().await, session.states()), ((0, 0), vec![]));
    }
}

/// The sandbox compares the `ETag`s and would reject one with quotes.
#[tokio::test]
async fn etags_are_kept_without_quotes() {
    let mut session = fixture().open().await;
    session.write("game.apk", b"abc");

    let weak = json!({"operation": "put_part", "headers": {"etag": "W/\"e71fa2190541574b\""}});
    session.service.fault(weak).await;

    let build = session.upload("game.apk").await;

    assert_eq!(session.service.content(text(&build["build_id"])).await, Some(b"abc".to_vec()));
}

#[tokio::test]
async fn errors_contain_neither_the_key_nor_addresses() {
    let mut session = fixture().open().await;
    session.write("game.apk", b"abc");

    for mut fault in
        [json!({"status": 500}), json!({"reset": true}), json!({"status": 403}), json!({"status": 404})]
    {
        fault["operation"] = json!("put_part");
        fault["times"] = json!(10);

        session.service.fault(fault.clone()).await;
        let error = session.upload_failure("game.apk").await.to_string();
        session.service.heal().await;

        assert!(!error.contains("X-Amz") && !error.contains(keys::DEMO), "{fault}: {error}");
    }
}
