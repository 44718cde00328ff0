//! Answers of the service that are too long or too complex for a reply.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{host::Host, peer::Peer, stub::Stub};

/// Longest reply in these tests, in characters.
const MAX_CHARS: usize = 20_000;

/// Returns the result of `get_run` if the service gives this answer.
async fn result(status: u16, body: Value) -> Value {
    let stub = Stub::start(move |_| {
        let body = body.clone();
        async move { (status, body) }
    })
    .await;
    let mut host = Host::open(&stub.settings(keys::DEMO, &[])).await;

    host.call("get_run", json!({"run_id": "x"})).await
}

fn nested(depth: usize, innermost: Value) -> Value {
    (0..depth)
        .fold(innermost, |value, level| if level % 2 == 0 { json!([value]) } else { json!({"a": value}) })
}

fn run(field: &str, value: Value) -> Value {
    let mut run = json!({"multiplayer_run_id": "x"});
    run[field] = value;
    run
}

#[tokio::test]
async fn a_reply_is_cut_to_the_limit_whatever_its_shape() {
    let many_fields: Value = (0..50_000)
        .map(|index| (format!("field_{index}"), json!(index)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let shapes = [
        run("lists", json!(vec![vec![json!([]); 200]; 1_000])),
        run("texts", json!(vec!["y".repeat(520); 20_000])),
        run("object", many_fields),
        run("text", json!("z".repeat(4_000_000))),
        run("escaped", json!("\n\"".repeat(100_000))),
        run("emoji", json!("👩‍🚀".repeat(10_000))),
        run(&"k".repeat(100_000), json!(1)),
        run("nested", nested(100, json!("z".repeat(100_000)))),
    ];

    for shape in shapes {
        let result = result(200, shape).await;
        let text = result["content"][0]["text"].as_str().expect("a text");

        assert_eq!(result["isError"], false, "{text}");
        assert!(text.chars().count() <= MAX_CHARS, "{}", text.len());
        assert_eq!(result["structuredContent"].to_string(), text);
        assert!(result["structuredContent"]["truncated"]["hint"].is_string(), "{text}");
    }
}

#[tokio::test]
async fn a_failure_is_cut_to_the_limit() {
    let bodies = [
        json!({"error": "e".repeat(15_000_000)}),
        json!({"error": "no", "results": vec![json!({"ok": false, "message": "m".repeat(300)}); 600]}),
        json!({"error": "no", "k".repeat(100_000): 1}),
    ];

    for body in bodies {
        let result = result(400, body).await;
        let text = result["content"][0]["text"].as_str().expect("a text");
        let failure: Value = serde_json::from_str(text).expect("JSON");

        assert_eq!(failure["error"]["status"], 400);
        assert!(text.chars().count() <= MAX_CHARS, "{}", text.len());
    }
}

#[tokio::test]
async fn hidden_characters_are_removed_from_names_and_texts() {
    let hostile =
        "Ship\u{202e}gnp\u{202c} \u{e0041}it\u{200b}\u{1b}[31m\u{0}\n\tnow \u{1f469}\u{200d}\u{1f680}";
    let reply = result(200, run("na\u{200b}me\u{202e}", json!(hostile))).await;
    let expected = "Shipgnp it[31m\n\tnow \u{1f469}\u{200d}\u{1f680}";
    assert_eq!(reply["structuredContent"]["name"], expected, "{reply}");

    let failure = result(400, json!({"error": "n\u{202e}o\u{1b}[2J", "de\u{200b}tail": "x\u{e0041}"})).await;
    let text = failure["content"][0]["text"].as_str().expect("a text");

    assert!(text.contains("no[2J") && text.contains(r#""detail":"x""#), "{text}");
}

#[tokio::test]
async fn a_key_that_hidden_characters_split_is_masked() {
    let (start, end) = keys::DEMO.split_at(8);
    let split = format!("{start}\u{200b}{end}");

    for status in [200, 400] {
        let body = json!({"multiplayer_run_id": split, "error": split, "test": {"name": split}});
        let result = result(status, body).await.to_string();
        assert!(!result.contains(keys::DEMO) && result.contains("[api key]"), "{result}");
    }
}

#[tokio::test]
async fn numbers_and_broken_texts_do_not_spoil_an_answer() {
    let peer_body = r#"{"multiplayer_run_id": "x", "big": 123456789012345678901234567890, "huge": 1e999, "text": "a\ud800b", "pair": "\ud83d\ude00", "escaped": "\\ud800"}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{peer_body}",
        peer_body.len()
    );
    let peer = Peer::answering(answer).await;
    let mut host = Host::open(&peer.settings(keys::DEMO, &[])).await;

    let result = host.call("get_run", json!({"run_id": "x"})).await;

    let text = result["content"][0]["text"].as_str().expect("a text");
    for part in ["123456789012345678901234567890", "1e+999", "\"a\u{FFFD}b\"", "\u{1F600}", "\"\\\\ud800\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
