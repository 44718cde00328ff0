//! Bodies that are no answer of the operation, with a status of success.

use super::{
    KEY, assert_right_outcomes,
    case::{Case, OK, Outcomes, UNUSABLE, example, response},
};

/// `{"error": "no"}`, compressed by gzip.
const GZIP: [u8; 35] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 74, 45, 42, 202, 47, 82, 178, 82, 80, 202, 203, 87, 170, 5, 0,
    147, 75, 178, 186, 15, 0, 0, 0,
];

/// Byte order mark of UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Returns bodies that no operation answers with. Objects have the field `field`.
pub(super) fn unusable_bodies(field: &str) -> Vec<(&'static str, Vec<u8>)> {
    let object = format!("{{\"{field}\": \"n\u{202e}o\"}}");

    [
        ("no body", String::new()),
        ("a web page", "<html>\u{1b}[2J\u{202e}no</html>".to_owned()),
        ("null", "null".to_owned()),
        ("a number", "5".to_owned()),
        ("a text", "\"no\"".to_owned()),
        ("a list", "[1, 2]".to_owned()),
        ("an empty object", "{}".to_owned()),
        ("an object of other fields", "{\"unheard\": {\"of\": 1}}".to_owned()),
        ("a field of another type", format!("{{\"{field}\": {{\"{field}\": [null, 1]}}, \"why\": 7}}")),
        ("half an object", format!("{{\"{field}\": [")),
        ("deep nesting", "[".repeat(100_000)),
        ("objects in objects", format!("{{\"{field}\":").repeat(10_000)),
        ("zero bytes", "\0".repeat(1_000)),
        ("an object and garbage", format!("{object} {{\"x")),
        ("two objects", format!("{object}{object}")),
        ("a byte order mark", format!("{BYTE_ORDER_MARK}{object}")),
        ("equal names", format!("{{\"{field}\": \"a\", \"{field}\": [], \"{field}\": \"\\u0000\"}}")),
        ("the key", format!("{{\"{field}\": \"{KEY}\", \"a\": {{\"{KEY}\": \"{KEY}\"}}}}")),
        ("a long text", format!("{{\"{field}\": \"{}\"}}", "e".repeat(300_000))),
    ]
    .into_iter()
    .map(|(name, body)| (name, body.into_bytes()))
    .chain([
        ("gzip", GZIP.to_vec()),
        ("UTF-16", utf_16(&object)),
        ("bytes that are not UTF-8", (0..=255).collect()),
    ])
    .collect()
}

fn utf_16(text: &str) -> Vec<u8> {
    format!("{BYTE_ORDER_MARK}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Returns cases of answers that are examples of the contract, changed by `change`.
fn changed_example(
    name: &str,
    outcomes: Outcomes,
    change: impl Fn(String) -> Vec<u8> + Send + Sync + 'static,
) -> Case {
    let answer = move |request: &str| response("200 OK", change(example(request)));
    Case::answering(name, answer, true, outcomes).of_every_operation()
}

#[tokio::test]
async fn a_body_that_no_operation_answers_with_is_a_bad_response() {
    let bodies = unusable_bodies("unheard").into_iter();
    let cases = bodies.map(|(name, body)| {
        let case = Case::new(name, response("200 OK", &body), UNUSABLE).of_every_operation();
        if body.is_empty() || body == b"null" { case.empty() } else { case }
    });
    assert_right_outcomes(cases.collect()).await;
}

#[tokio::test]
async fn a_body_in_an_encoding_that_was_not_requested_is_a_bad_response() {
    let plain = "{\"unheard\": 1}".as_bytes();
    let cases = [("gzip", &GZIP[..]), ("gzip", plain), ("br", plain), ("identity, gzip", &GZIP[..])];
    let cases = cases.map(|(encoding, body)| {
        let status = format!("200 OK\r\ncontent-encoding: {encoding}");
        Case::new(format!("{encoding}, {} bytes", body.len()), response(&status, body), UNUSABLE)
    });

    assert_right_outcomes(cases.into()).await;
}

#[tokio::test]
async fn a_good_body_is_used_and_a_damaged_one_is_not() {
    let repeated = |text: String| {
        // Every field occurs twice.
        let fields = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).expect("an object");
        let separator = if fields.is_empty() { "" } else { "," };
        format!("{{{fields}{separator}{fields}}}").into_bytes()
    };

    assert_right_outcomes(vec![
        changed_example("the example of the contract", OK, String::into_bytes),
        changed_example("white space around the body", OK, |text| format!("\r\n\t {text} \n").into_bytes()),
        changed_example("every field twice", OK, repeated),
        changed_example("garbage after the body", UNUSABLE, |text| format!("{text} {{").into_bytes()),
        changed_example("the body twice", UNUSABLE, |text| format!("{text}{text}").into_bytes()),
        changed_example("a body with a byte order mark", UNUSABLE, |text| {
            format!("{BYTE_ORDER_MARK}{text}").into_bytes()
        }),
        changed_example("a body in UTF-16", UNUSABLE, |text| utf_16(&text)),
    ])
    .await;
}
