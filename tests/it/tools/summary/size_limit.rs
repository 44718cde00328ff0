//! Long summaries: texts and lists of single failures are bounded, and the reply is cut as every other one.

use serde_json::json;

use super::{
    characters, each, execution,
    history::{History, Test, uuid},
    whole_length,
};

/// Largest size of a reply, in characters.
const MAX_CHARACTERS: usize = 20_000;

/// Returns failures that are all different, with every field that a failure can have.
fn different_failures(count: usize) -> Vec<Test> {
    let words = ["door", "bridge", "lamp", "river", "gate", "tower", "coin"];
    let word = |number: usize| words[number % words.len()];
    let test = |number: usize| {
        let report = format!("The {} near the {} stayed where it was.", word(number), word(number / 7));
        let mut test = Test::new(number, &["FAILED"]).reporting(report);
        test.artifacts = vec!["agent.log".into(), "recording.mp4".into(), "screenshots/end.png".into()];
        if number.is_multiple_of(3) { test.with_bug(&format!("bug_{number}"), "high") } else { test }
    };

    (0..count).map(test).collect()
}

#[tokio::test]
async fn five_hundred_failures_are_cut_and_counted() {
    for count in [1, 40, 500] {
        let summary = History::new(&different_failures(count)).summary(execution(&uuid(0xe, 0))).await;
        assert!(characters(&summary) <= MAX_CHARACTERS, "{count}: {}", characters(&summary));
        assert_eq!(summary["truncated"].is_object(), count == 500);
        assert_eq!(summary["verdicts"], json!({"FAILED": count}));
        assert_eq!(summary["bugs"]["high"], count.div_ceil(3));
        assert_eq!(whole_length(&summary, "/failures"), count);
        assert_eq!(each(&summary["failures"], "/test/name")[0], "Test 000", "the first entries are kept");
    }
}

#[tokio::test]
async fn long_texts_and_lists_of_a_failure_are_shortened_and_counted() {
    let mut test = Test::new(1, &["FAILED"]).reporting("word ".repeat(1_000)).with_bug("b", "low");
    test.name = "N".repeat(500);
    test.bugs[0][1] = "T".repeat(500);
    test.artifacts = (0..40).map(|number| format!("{number:02}-{}", "f".repeat(200))).collect();
    test.artifacts[1] = "01  end.png".to_owned();

    let history = History::new(&[test]);
    let mut arguments = execution(&uuid(0xe, 0));
    arguments["fields"] = json!("*");
    let summary = history.clone().summary(arguments).await;
    let failure = &summary["failures"][0];

    for text in [
        &failure["observed"],
        &failure["test"]["name"],
        &failure["bugs"][0]["title"],
        &failure["artifacts"][0],
    ] {
        assert!(text.as_str().is_some_and(|text| text.ends_with('…')), "{text}");
    }

    assert_eq!(failure["artifacts"][1], "01  end.png", "a name that is not marked is whole");
    let artifacts = failure["artifacts"].as_array().expect("a list").len();
    assert_eq!(json!(40 - artifacts), summary["left_out"]["artifacts"]);
    let how = summary["left_out"]["how"].as_str().expect("a text");
    assert!(how.contains("`get_run`") && !how.contains("[[") && !how.contains("]]"), "{how}");

    let mut arguments = execution(&uuid(0xe, 0));
    arguments["fields"] = json!("total");
    let selected = history.summary(arguments).await;
    assert_eq!(selected, json!({"total": 1, "left_out": summary["left_out"]}));
}
