//! Replies with unchanged answers, compared with the same replies by conversion.

use std::cell::Cell;

use proptest::prelude::any;
use serde_json::{Value, json};

use super::{
    Reply, ReplyLimits, ReplySource,
    random_answers::{answer, path_arguments},
    unchanged::unchanged,
};
use crate::{
    call::operation_request::OperationRequest,
    client::{AddressPolicy, ApiKey},
    fields::Fields,
    random_inputs::{check_values, object_with, value},
    service::{
        api::{bugs::ListBugs, runs::GetRun},
        catalog::{ListedOperation as _, OPERATIONS, OperationEntry},
    },
};

const KEY: &str = "svc_random_key";

/// Returns the text of the reply to an answer, and of the same reply if the answer is converted.
fn both_texts(entry: &'static OperationEntry, body: &str, max_chars: usize) -> (Option<String>, String) {
    let request = OperationRequest::new(entry, path_arguments(entry), "tmsys").expect("a request");
    let key = ApiKey::parse(KEY).expect("a key");
    let address_policy = AddressPolicy::default();
    let limits = ReplyLimits { tmsys_name: "qms", max_reply_chars: max_chars, address_policy };
    let response = answer(200, body.as_bytes().to_vec());

    let text = |mut reply: Reply| {
        reply.add_next_page();
        let text = reply.into_limited(max_chars, ReplySource::Call(entry));
        futures_util::FutureExt::now_or_never(text).expect("a short answer")
    };
    let unchanged =
        unchanged(&request, &response, &key, &limits).map(|found| Reply::from_unchanged(found, 0));
    let converted = Reply::converted(&request, &response, &key, &limits);

    (unchanged.map(text), converted.map_or_else(|failure| failure.to_json(), text))
}

#[test]
fn an_answer_without_anything_to_change_is_passed_on() {
    let body = r#"{ "multiplayer_run_id": "r1", "state": "completed", "unknown": 1.50, "text": "a\n😀" }"#;
    let compact = r#"{"multiplayer_run_id":"r1","state":"completed","unknown":1.50,"text":"a\n😀"}"#;
    let (unchanged, converted) = both_texts(GetRun::entry(), body, 10_000);

    assert_eq!((unchanged.as_deref(), converted.as_str()), (Some(compact), compact));
}

#[test]
fn every_other_answer_is_converted() {
    let mut with_many_fields = json!({"multiplayer_run_id": "r1", "state": "completed"});
    for number in 0..100 {
        with_many_fields[number.to_string()] = json!(number);
    }

    for body in [
        with_many_fields.to_string(),
        "{\"multiplayer_run_id\": \"r1\", \"state\": \"a\u{200b}\"}".to_owned(),
        format!(r#"{{"multiplayer_run_id": "r1", "state": "{KEY}"}}"#),
        r#"{"multiplayer_run_id": "r1", "state": "completed", "qms_id": 1}"#.to_owned(),
        r#"{"no_field_of_a_run": 1}"#.to_owned(),
        r#"{"multiplayer_run_id": "r1", "state": 1, "state": 2}"#.to_owned(),
        r#"{"multiplayer_run_id": "r1", "state": 1 2}"#.to_owned(),
        r#"["multiplayer_run_id", "state"]"#.to_owned(),
        r#"{"multiplayer_run_id": "r1", "state": "completed""#.to_owned(),
        r#"{"multiplayer_run_id": "r1", "state": "completed"} {}"#.to_owned(),
    ] {
        assert_eq!(both_texts(GetRun::entry(), &body, 10_000).0, None, "{body}");
    }
}

#[test]
fn a_page_that_is_passed_on_points_to_the_next_one() {
    for (body, is_last) in [
        (json!({"data": [], "pagination": {"page": 0, "total_pages": 2}}), false),
        (json!({"data": [], "pagination": {"page": 1, "total_pages": 2}}), true),
        (json!({"next": 1, "data": [], "pagination": {"page": 0, "total_pages": 2}}), false),
    ] {
        let (unchanged, converted) = both_texts(ListBugs::entry(), &body.to_string(), 10_000);
        let reply: Value = serde_json::from_str(&converted).expect("JSON");

        assert_eq!(unchanged, Some(converted));
        assert_eq!(reply["next"].is_null(), is_last, "{reply}");
    }
}

/// Removes most characters that prevent passing an object on.
fn make_plain(value: &mut Value) {
    match value {
        Value::String(text) => {
            text.retain(|one| one.is_ascii_alphanumeric() || "\n\"\\é😀".contains(one));
        }
        Value::Array(items) => items.iter_mut().for_each(make_plain),
        Value::Object(fields) => {
            fields.retain(|name, _| name.bytes().all(|byte| byte.is_ascii_graphic()));
            fields.values_mut().for_each(make_plain);
        }
        Value::Number(number) if number.is_f64() => *value = json!(-1.50),
        _ => {}
    }
}

#[test]
fn an_answer_that_is_passed_on_equals_the_converted_one() {
    let passed_on = Cell::new(0);

    for entry in &OPERATIONS {
        let properties = entry.output_schema().get("properties").and_then(Value::as_object);
        let names: Vec<_> = properties.into_iter().flat_map(Fields::keys).cloned().collect();
        let required = entry.required_fields;
        let inputs = (object_with(names), value(), any::<bool>(), 20..3_000_usize);

        check_values(&inputs, OPERATIONS.len() / 8, |(mut object, value, is_spaced, max_chars)| {
            for name in required {
                object.entry((*name).to_owned()).or_insert_with(|| value.clone());
            }
            let mut object = Value::Object(object);
            make_plain(&mut object);
            let body = if is_spaced { format!("{object:#}") } else { object.to_string() };

            let (unchanged, converted) = both_texts(entry, &body, 1_500 + max_chars);
            if let Some(unchanged) = unchanged {
                assert_eq!(unchanged, converted);
                passed_on.set(passed_on.get() + 1);
            }
        });
    }

    assert_ne!(passed_on.get(), 0);
}
