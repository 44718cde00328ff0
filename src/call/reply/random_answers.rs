//! Properties of the reply to any answer of the service.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Reply, ReplyLimits, ReplySource, is_success, limit_failure};
use crate::{
    call::operation_request::OperationRequest,
    client::{AddressPolicy, ApiKey, FileMetadata, HttpResponse, refusal_failure},
    fields::Fields,
    random_inputs::{bytes, check_values, object_with, value},
    service::catalog::{OPERATIONS, OperationEntry},
    text::has_hidden,
};

const KEY: &str = "svc_random_key";

fn answer(status: u16, body: Vec<u8>) -> HttpResponse {
    let (location, file) = (None, FileMetadata::default());
    let body = body.into();
    HttpResponse { status, body, location, retry_after: None, date: None, attempts: 1, file }
}

/// Returns the text of the reply, or of the failure, that an answer to `entry` becomes.
fn reply_text(entry: &'static OperationEntry, answer: &HttpResponse, max_chars: usize) -> String {
    let request = OperationRequest::new(entry, path_arguments(entry), "tmsys").expect("a request");
    let key = ApiKey::parse(KEY).expect("a key");
    let limits = ReplyLimits {
        tmsys_name: "tmsys",
        max_reply_chars: max_chars,
        address_policy: AddressPolicy::default(),
    };
    if !is_success(entry, answer) {
        let failure = refusal_failure(&request.to_http(None), answer, &key);
        return limit_failure(failure, max_chars).to_json();
    }

    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        match Reply::new(&request, answer, &key, &limits) {
            Ok(reply) => {
                let reply = reply.with_decoded_pictures(Instant::now() + Duration::from_secs(60)).await;
                reply.into_limited(max_chars, ReplySource::Call(entry)).await.1
            }
            Err(failure) => limit_failure(failure, max_chars).to_json(),
        }
    })
}

/// Returns an id for each placeholder of the path.
fn path_arguments(entry: &OperationEntry) -> Fields {
    entry.request.path_fields().map(|name| (name.to_owned(), json!("x"))).collect()
}

#[test]
fn no_answer_makes_a_reply_that_is_too_long_or_has_hidden_characters_or_the_key() {
    const MAX_CHARS: usize = 2_000;

    for entry in &OPERATIONS {
        let properties = entry.output_schema().get("properties").and_then(Value::as_object);
        let names: Vec<_> = properties.into_iter().flat_map(Fields::keys).cloned().collect();
        let required: Vec<_> = entry.required_fields.iter().map(|name| (*name).to_owned()).collect();
        let inputs = (object_with(names), value(), bytes(), 200..600_u16);

        check_values(&inputs, OPERATIONS.len(), |(mut object, value, bytes, status)| {
            for name in &required {
                object.entry(name.clone()).or_insert_with(|| value.clone());
            }
            object.insert("echo".to_owned(), format!("a\u{202e}{KEY}").into());

            let body = Value::Object(object).to_string().into_bytes();
            for answer in [answer(200, body.clone()), answer(status, body), answer(200, bytes)] {
                let text = reply_text(entry, &answer, MAX_CHARS);
                assert!(text.chars().count() <= MAX_CHARS, "{} characters: {text}", text.chars().count());
                assert!(!has_hidden(&text) && !text.contains(KEY), "{text}");
            }
        });
    }
}
