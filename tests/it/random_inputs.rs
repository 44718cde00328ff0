//! Random inputs to everything that reads texts of hosts, services and files. Each property holds for any input.

use proptest::{collection, prelude::*, test_runner::RngSeed};
use serde_json::{Map, Value, json};
use tas_mcp::{
    call::reply::{Reply, ReplySource, limit_failure},
    client::{AddressPolicy, parse_json},
    failure::{Code, Failure},
    mcp::message,
    service::{
        arguments::{self, Mode},
        catalog::OPERATIONS,
    },
    text::{has_hidden, remove_hidden, single_line, visible},
    tools::{catalog, files::file_name},
};

/// Number of cases if the variable `PROPTEST_CASES` is not set.
const USUAL_CASES: u32 = 256;

/// Longest reply, in characters: the least that the setting allows.
const MAX_CHARS: usize = 2_000;

/// Text with many characters that mean something to a terminal, a path, JSON or a model.
fn text() -> impl Strategy<Value = String> {
    let special = proptest::sample::select(vec![
        "\u{1b}[2J",
        "\u{202e}",
        "\u{200b}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{2028}",
        "\r",
        "\n",
        "\0",
        "/",
        "..",
        ".",
        "-",
        "\\",
        "\"",
        "{",
        "[",
        "%2f",
        "C:",
        "\u{1f469}",
        "1",
        "true",
        "é",
    ])
    .prop_map(str::to_owned);
    collection::vec(prop_oneof![special, any::<String>()], 0..6).prop_map(|parts| parts.concat())
}

/// Any JSON value, up to a few hundred values.
fn value() -> impl Strategy<Value = Value> {
    let long = (text(), 1..400_usize).prop_map(|(text, count)| Value::from(text.repeat(count)));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        long,
    ];
    leaf.prop_recursive(6, 256, 12, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            collection::vec((text(), inner), 0..12)
                .prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    collection::vec((text(), value()), 0..8).prop_map(|fields| fields.into_iter().collect())
}

/// Returns how many values `value` contains, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Few cases, the same in every run, so that the suite is fast and repeatable. If `PROPTEST_CASES` is set, an eighth of
/// that number of new cases.
fn few_cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    let is_long = default.cases > USUAL_CASES;
    let rng_seed = if is_long { default.rng_seed } else { RngSeed::Fixed(1) };
    ProptestConfig { cases: default.cases.div_ceil(8), rng_seed, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn a_visible_text_has_no_hidden_characters(text in text()) {
        let shown = visible(&text).into_owned();
        prop_assert!(!has_hidden(&shown), "{text:?} {shown:?}");
        prop_assert!(!single_line(&text).contains(char::is_control));
    }

    #[test]
    fn hidden_characters_are_removed_and_no_value_is_lost(value in value()) {
        let mut cleaned = value.clone();
        remove_hidden(&mut cleaned);
        prop_assert_eq!(count(&cleaned), count(&value));

        let mut again = cleaned.clone();
        remove_hidden(&mut again);
        prop_assert_eq!(again, cleaned);
    }

    #[test]
    fn a_reply_is_never_longer_than_the_limit(object in object()) {
        let reply = Reply::from_value(Value::Object(object));
        let tool = catalog::find_tool("get_run").expect("a tool").tool();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (value, text) = runtime.block_on(reply.into_limited(MAX_CHARS, ReplySource::Call(tool)));

        prop_assert!(text.chars().count() <= MAX_CHARS, "{}", text.len());
        prop_assert_eq!(value.to_string(), text);
    }

    #[test]
    fn a_failure_is_never_longer_than_the_limit(message in text(), hint in text(), details in object(), times in 1..500_usize) {
        let mut failure = Failure::new(Code::Rejected, message.repeat(times)).hint(hint.repeat(times));
        *failure.details = details;
        let limited = limit_failure(failure, MAX_CHARS);

        prop_assert!(limited.to_json().chars().count() <= MAX_CHARS, "{}", limited.to_json());
        prop_assert!(!has_hidden(&limited.message));
    }

    #[test]
    fn json_is_parsed_or_refused(value in value(), cut in 0..64_usize, byte in any::<u8>()) {
        let mut bytes = value.to_string().into_bytes();
        prop_assert_eq!(parse_json(&bytes), Ok(value));

        let position = cut % bytes.len().max(1);
        bytes[position] = byte;
        drop(parse_json(&bytes));
        drop(parse_json(&bytes[position..]));
    }

    #[test]
    fn surrogates_never_spoil_a_list(units in collection::vec(0xD700..0xE100_u16, 0..20)) {
        let escapes: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let parsed = parse_json(format!("[\"{}\", 7]", escapes.concat()).as_bytes());
        prop_assert_eq!(parsed.map(|list| list[1].clone()), Ok(json!(7)));
    }

    #[test]
    fn any_line_of_a_host_is_decoded_or_refused(params in value(), method in text(), id in value(), cut in any::<prop::sample::Index>()) {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string().into_bytes();
        drop(message::decode(&line));
        drop(message::decode(&line[..cut.index(line.len())]));
    }

    #[test]
    fn any_arguments_are_checked_against_every_schema(arguments in object(), value in value()) {
        for entry in &OPERATIONS {
            drop(arguments::check(entry.input_schema(), &mut arguments.clone(), Mode::Arguments));

            // A value of any kind in place of each argument.
            let properties = entry.input_schema().get("properties").and_then(Value::as_object);
            let names = properties.into_iter().flat_map(Map::keys);
            let mut filled = names.map(|name| (name.clone(), value.clone())).collect();
            drop(arguments::check(entry.input_schema(), &mut filled, Mode::Arguments));
        }
    }

    #[test]
    fn an_accepted_file_name_stays_below_the_directory_and_starts_nothing(name in text()) {
        if file_name::path_problem(&name).is_none() {
            for segment in name.split('/') {
                prop_assert!(!segment.is_empty() && !segment.starts_with(['.', '-']), "{name:?}");
            }
            prop_assert!(!name.contains(['\\', '\0']) && !has_hidden(&name) && !name.starts_with('/'));
        }
    }

    #[test]
    fn an_address_that_is_followed_uses_https_without_credentials(text in text(), host in "[a-z0-9.:@\\[\\]-]{0,20}") {
        for address in [text.clone(), format!("https://{host}/{text}"), format!("http://{host}/")] {
            if let Ok(url) = AddressPolicy::default().parse(&address) {
                prop_assert!(url.scheme() == "https" && url.username().is_empty(), "{address}");
                prop_assert!(url.host_str().is_some_and(|host| host != "localhost" && !host.starts_with("127.")), "{address}");
            }
        }
    }
}
