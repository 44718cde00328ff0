//! Parts of texts.

use serde_json::{Value, json};

use super::{answering, answering_bytes, bytes_in_sandbox, file, part};
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    peer::Event,
};

const LOG: &str = "agent.log";

/// Reads a file to its end, part by part.
async fn read_all_parts(host: &mut Host, name: &str, length: Option<u64>) -> (Vec<Value>, String) {
    let (mut parts, mut text, mut offset) = (Vec::new(), String::new(), json!(0));
    while !offset.is_null() {
        let mut arguments = file(name);
        arguments["offset"] = offset.take();
        arguments["length"] = json!(length);
        let part = host.succeed("get_run_artifact", arguments).await;
        text.push_str(part["text"].as_str().expect("a text"));
        offset = part["next_offset"].clone();
        parts.push(part);
        assert!(parts.len() < 1_000, "too many parts");
    }

    (parts, text)
}

#[tokio::test]
async fn a_long_text_is_read_part_by_part() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let expected = bytes_in_sandbox(&service, LOG).await;
    let (parts, text) = read_all_parts(&mut host, LOG, None).await;

    assert!(parts.len() > 1, "{}", expected.len());
    assert_eq!(text.as_bytes(), expected);

    for part in &parts {
        assert_eq!(part["total_bytes"], expected.len());
        assert_eq!(part["length"], part["text"].as_str().map(str::len).expect("a text"));
        assert_eq!(part["content_type"], "text/plain; charset=utf-8");
        assert!(part.to_string().chars().count() <= 20_000 && part["truncated"].is_null());
    }

    assert!(parts[0]["length"].as_u64().expect("a length") > 15_000, "{}", parts[0]["length"]);
}

#[tokio::test]
async fn a_part_fits_into_the_longest_reply() {
    let Session { service, mut host, .. } =
        Fixture::new().all_tools().variables(&[("TAS_MAX_REPLY_CHARS", "2000")]).open().await;
    for name in [LOG, "deliverables/report.json"] {
        let (parts, text) = read_all_parts(&mut host, name, Some(1_000_000)).await;
        assert_eq!(text.as_bytes(), bytes_in_sandbox(&service, name).await);
        for part in parts {
            assert!(part.to_string().chars().count() <= 2_000 && part["truncated"].is_null(), "{part}");
        }
    }
}

#[tokio::test]
async fn a_part_never_splits_a_character() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let expected = String::from_utf8(bytes_in_sandbox(&service, LOG).await).expect("UTF-8");
    let multibyte = expected.find(|one: char| one.len_utf8() == 3).expect("a character of three bytes");

    // These parts begin before, inside and after a character of three bytes.
    for offset in multibyte - 4..multibyte + 6 {
        for length in 1..8 {
            let part = host.succeed("get_run_artifact", part(LOG, offset as u64, length)).await;
            let start =
                (offset..expected.len()).find(|at| expected.is_char_boundary(*at)).expect("a boundary");
            let at = |name: &str| usize::try_from(part[name].as_u64().expect("a number")).expect("small");
            assert_eq!(at("offset"), start);
            assert_eq!(part["text"], expected[start..start + at("length")]);
            assert_eq!(at("next_offset"), start + at("length"));
            let is_one_character = part["text"].as_str().expect("a text").chars().count() == 1;
            assert!(at("length") > 0 && (at("length") as u64 <= length || is_one_character), "{part}");
        }
    }
}

#[tokio::test]
async fn a_part_is_requested_with_a_range() {
    let (mut peer, mut host) = answering("206 Partial Content\r\ncontent-range: bytes 5-6/7", "fg").await;
    let part = host.succeed("get_run_artifact", part("a.log", 5, 10)).await;
    let expected = json!({
        "filename": "a.log", "content_type": null, "etag": null, "total_bytes": 7, "offset": 5, "length": 2,
        "next_offset": null, "text": "fg",
    });

    assert_eq!(part, expected);

    let Event::Request(request) = peer.next().await else { panic!("no request") };

    // Ten bytes from offset 5, and three more that may belong to the last character.
    assert!(request.contains("range: bytes=5-17\r\n"), "{request}");
}

#[tokio::test]
async fn a_part_is_cut_from_the_answer_of_a_host_that_ignores_the_range() {
    let head = "200 OK\r\ncontent-type: text/plain\r\netag: \"e\"";
    let (_peer, mut host) = answering(head, "0123456789abcdef").await;
    let middle = host.succeed("get_run_artifact", part("a.log", 4, 3)).await;

    assert_eq!(
        (&middle["text"], &middle["next_offset"], &middle["total_bytes"]),
        (&json!("456"), &json!(7), &json!(16))
    );

    let end = host.succeed("get_run_artifact", part("a.log", 13, 3)).await;

    assert_eq!(
        (&end["text"], &end["next_offset"], &end["etag"]),
        (&json!("def"), &Value::Null, &json!("\"e\""))
    );
}

#[tokio::test]
async fn the_last_part_of_a_file_of_unknown_length_has_no_next_offset() {
    let (_peer, mut host) = answering_bytes(b"HTTP/1.1 200 OK\r\n\r\n0123456789".to_vec()).await;
    let first = host.succeed("get_run_artifact", part("a.log", 0, 4)).await;

    assert_eq!(
        (&first["text"], &first["next_offset"], &first["total_bytes"]),
        (&json!("0123"), &json!(4), &Value::Null)
    );

    let last = host.succeed("get_run_artifact", part("a.log", 4, 10)).await;

    assert_eq!(
        (&last["text"], &last["next_offset"], &last["total_bytes"]),
        (&json!("456789"), &Value::Null, &json!(10))
    );
}

#[tokio::test]
async fn a_full_part_of_a_file_of_unknown_length_has_a_next_offset() {
    let head = "206 Partial Content\r\ncontent-range: bytes 0-6/*";
    let (_peer, mut host) = answering(head, "0123456").await;
    let first = host.succeed("get_run_artifact", part("a.log", 0, 4)).await;
    assert_eq!((&first["text"], &first["next_offset"]), (&json!("0123"), &json!(4)));
}

#[tokio::test]
async fn hidden_characters_are_removed_but_count_for_the_length() {
    let (_peer, mut host) = answering("200 OK\r\ncontent-type: text/plain", "a\u{1b}[31mb\u{202e}c\n").await;
    let reply = host.succeed("get_run_artifact", file("a.log")).await;
    assert_eq!(
        (&reply["text"], &reply["length"], &reply["next_offset"]),
        (&json!("a[31mbc\n"), &json!(12), &Value::Null)
    );
}

#[tokio::test]
async fn an_empty_file_is_an_empty_text() {
    for head in
        ["416 Range Not Satisfiable\r\ncontent-range: bytes */0", "416 Range Not Satisfiable", "200 OK"]
    {
        let (_peer, mut host) = answering(head, "").await;
        let empty = host.succeed("get_run_artifact", file("a.log")).await;
        assert_eq!(
            (&empty["text"], &empty["total_bytes"], &empty["next_offset"]),
            (&json!(""), &json!(0), &Value::Null)
        );
    }
}

#[tokio::test]
async fn an_incomplete_character_at_the_end_of_a_file_is_dropped() {
    for head in [
        "200 OK",
        "206 Partial Content\r\ncontent-range: bytes 0-2/3",
        "206 Partial Content\r\ncontent-range: bytes 0-2/*",
    ] {
        let (_peer, mut host) = answering(head, b"ab\xc3").await;
        let reply = host.succeed("get_run_artifact", part("a.log", 0, 10)).await;
        assert_eq!((&reply["text"], &reply["next_offset"]), (&json!("ab"), &Value::Null), "{head}");
    }
}
