//! The size limit of the answer, and the counts of what is left out.

use serde_json::{Value, json};

use super::{
    against, characters, each, execution,
    history::{History, Test, uuid},
};

/// Largest size of the answer, in characters.
const MAX_CHARACTERS: usize = 8_000;

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

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}

#[tokio::test]
async fn a_short_summary_is_complete() {
    for count in [1, 8] {
        let summary = History::new(&different_failures(count)).summary(execution(&uuid(0xe, 0))).await;
        assert_eq!(summary["failures"].as_array().map(Vec::len), Some(count));
        assert_eq!(summary["left_out"], Value::Null);
    }
}

#[tokio::test]
async fn five_hundred_failures_are_cut_and_counted() {
    let mut sizes = Vec::new();
    for count in [1, 50, 500] {
        let summary = History::new(&different_failures(count)).summary(execution(&uuid(0xe, 0))).await;
        assert!(characters(&summary) < MAX_CHARACTERS, "{count}: {}", characters(&summary));
        assert_eq!(summary["verdicts"], json!({"FAILED": count}));
        assert_eq!(summary["bugs"]["high"], count.div_ceil(3));
        let entries = summary["failures"].as_array().expect("a list").len();
        assert_eq!(entries + number(&summary["left_out"]["failures"]), count);
        assert_eq!(each(&summary["failures"], "/test/name")[0], "Test 000", "the first entries are kept");
        sizes.push(characters(&summary));
    }

    // Most of the room is used.
    assert!(sizes[0] < 1_500 && sizes[2] > 6_500, "{sizes:?}");
}

#[tokio::test]
async fn the_omitted_entries_of_every_list_are_counted() {
    let earlier =
        |number: usize| Test::new(number, &[if number.is_multiple_of(2) { "SUCCESS" } else { "FAILED" }]);
    let now = |number: usize| match number % 5 {
        0 => Test::new(number, &["ERROR", "SUCCESS"]),
        1 => Test::new(number, &[]),
        _ => Test::new(number, &["FAILED"]),
    };
    let mut history = History::new(&(0..400).map(earlier).collect::<Vec<_>>());

    history.add(&(0..400).map(now).collect::<Vec<_>>());
    let summary = history.summary(against(execution(&uuid(0xe, 1)), "previous")).await;

    assert!(characters(&summary) < MAX_CHARACTERS, "{}", characters(&summary));

    let entries = |pointer: &str| summary.pointer(pointer).and_then(Value::as_array).expect("a list").len();
    for (pointer, expected) in [
        ("/failures", 320),
        ("/passed_after_retry", 80),
        ("/comparison/newly_failing", 120),
        ("/comparison/still_failing", 120),
        ("/comparison/fixed", 40),
        ("/comparison/not_run", 80),
    ] {
        let left_out = number(&summary["left_out"][&pointer[1..].replace('/', ".")]);
        assert_eq!(entries(pointer) + left_out, expected, "{pointer}");
        assert!(entries(pointer) > 0, "{pointer}: every list keeps some entries");
    }

    assert!(summary["left_out"]["how"].as_str().is_some_and(|how| how.contains("`get_run`")));
}

#[tokio::test]
async fn long_texts_end_with_an_ellipsis() {
    let mut test = Test::new(1, &["FAILED"]).reporting("word ".repeat(1_000)).with_bug("b", "low");
    test.name = "N".repeat(500);
    test.bugs[0][1] = "T".repeat(500);
    test.artifacts = (0..40).map(|number| format!("{number:02}-{}", "f".repeat(200))).collect();

    let summary = History::new(&[test]).summary(execution(&uuid(0xe, 0))).await;
    let failure = &summary["failures"][0];

    for text in [
        &failure["observed"],
        &failure["test"]["name"],
        &failure["bugs"][0]["title"],
        &failure["artifacts"][0],
    ] {
        assert!(text.as_str().is_some_and(|text| text.ends_with('…')), "{text}");
    }

    let artifacts = failure["artifacts"].as_array().expect("a list").len();

    assert_eq!(artifacts + number(&summary["left_out"]["artifacts"]), 40);
}

/// Every text of the service is twice as long as JSON.
#[tokio::test]
async fn texts_that_grow_as_json_keep_to_the_limit() {
    let hostile = [
        "\"\\".repeat(400),
        "\u{1F468}\u{200D}\u{1F469}".repeat(300),
        "a\n\t\r".repeat(300),
        "\u{0001}\u{202e}\u{200b}".repeat(300),
        "é\u{0301}".repeat(600),
        String::new(),
    ];
    for text in hostile {
        for count in [1, 30] {
            let test = |number: usize| {
                let mut test =
                    Test::new(number, &["FAILED"]).reporting(format!("{text}{}", "x".repeat(number)));
                test.name = format!("{text}{number}");
                test.goal.clone_from(&text);
                test.bugs = (0..9).map(|bug| [format!("{text}{bug}"), text.clone(), text.clone()]).collect();
                test.artifacts = vec![text.clone(); 9];
                test.results = vec![format!("{text}{number}"); 4];
                test
            };

            let mut history = History::new(&(0..count).map(test).collect::<Vec<_>>());
            history.add(&(0..count).map(test).collect::<Vec<_>>());
            history.change_jobs(|job| job["build_id"] = json!(format!("{text}{}", job["job_id"])));

            let summary = history.summary(against(execution(&uuid(0xe, 1)), "previous")).await;

            assert!(characters(&summary) < MAX_CHARACTERS, "{count}: {}", characters(&summary));
            assert!(!summary["failures"].as_array().expect("a list").is_empty());
            assert_eq!(summary["finished"], count);
        }
    }
}
