//! JUnit XML of the verdicts.

use quick_xml::{Reader, escape::unescape, events::Event};
use serde_json::{Value, json};
use tas_mcp::tools::waiting::{
    Item,
    junit::{Case, document},
};

/// Name, attributes and own text of an element.
pub(super) type Element = (String, Vec<(String, String)>, String);

/// The elements of a document in order.
pub(super) fn elements(xml: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(xml);
    let (mut found, mut open): (Vec<Element>, usize) = (Vec::new(), 0);
    let mut is_inside = false;

    loop {
        let event = reader.read_event().expect("well-formed");
        match &event {
            Event::Start(element) | Event::Empty(element) => {
                is_inside = matches!(event, Event::Start(_));
                open += usize::from(is_inside);
                let attributes = element.attributes().map(|one| {
                    let one = one.expect("an attribute, once");
                    (one.key.as_ref().to_owned(), unescape(&one.value).expect("entities").into_owned())
                });
                found.push((element.name().as_ref().to_owned(), attributes.collect(), String::new()));
            }
            Event::Text(text) if is_inside => found.last_mut().expect("an element").2.push_str(text),
            Event::GeneralRef(entity) if is_inside => {
                let text = format!("&{};", &**entity);
                found.last_mut().expect("an element").2.push_str(&unescape(&text).expect("an entity"));
            }
            Event::End(_) => {
                is_inside = false;
                open -= 1;
            }
            Event::Eof => break,
            _ => {}
        }
    }

    assert_eq!(open, 0, "every element ends");
    found
}

/// The value of an attribute; empty where there is none.
pub(super) fn attribute<'a>(element: &'a Element, name: &str) -> &'a str {
    element.1.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

fn item(result: &str) -> Item {
    let item = json!({
        "job_id": "j", "run_id": "r", "test_name": "Pause and resume", "platform": "Pixel 8", "status": "COMPLETED",
        "result": result,
    });
    serde_json::from_value(item).expect("an item")
}

fn run(result: &str, report: &str) -> Value {
    let step = |number: u32, result: &str, report: &str| {
        json!({
            "step_number": number, "run_state": "COMPLETED", "run_result": result, "report": report,
            "items": [{"id": "1a", "expected": "The menu opens", "status": "failed", "comment": "it did not"}],
            "test": {"goal": "Pause the game"},
        })
    };

    let steps = [step(1, "SUCCESS", "fine"), step(2, result, report), step(3, "SKIPPED", "never reached")];

    json!({
        "test": {"id": "t", "name": "Pause and resume"}, "build": {"id": "b", "name": "nightly 414"},
        "started_at": "2026-03-02T09:00:00+00:00", "duration_ms": 61_500.25,
        "players": [{"player_number": 1, "steps": steps}],
    })
}

fn only(result: &str, report: &str) -> Vec<Element> {
    let case = Case::new(&item(result), Some(&run(result, report)), "Smoke");
    elements(&document("Smoke", &[case]).expect("a document"))
}

#[test]
fn a_run_is_a_case_in_a_suite_with_its_ids() {
    let found = only("SUCCESS", "fine");
    let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();

    assert_eq!(names[..3], ["testsuites", "testsuite", "properties"]);
    assert_eq!(names.last(), Some(&"testcase"));

    let case = found.last().unwrap();

    assert_eq!(
        ["name", "classname", "time"].map(|name| attribute(case, name)),
        ["Pause and resume [Pixel 8]", "Smoke", "61.500"]
    );

    let suite = &found[1];
    let counts = ["tests", "failures", "errors", "skipped", "timestamp"].map(|name| attribute(suite, name));

    assert_eq!(counts, ["1", "0", "0", "0", "2026-03-02T09:00:00+00:00"]);

    let properties = found.iter().filter(|(name, ..)| name == "property");
    let properties: Vec<_> =
        properties.map(|one| (attribute(one, "name"), attribute(one, "value"))).collect();

    for expected in [
        ("run_id", "r"),
        ("job_id", "j"),
        ("result", "SUCCESS"),
        ("build_id", "b"),
        ("build_name", "nightly 414"),
    ] {
        assert!(properties.contains(&expected), "{expected:?}: {properties:?}");
    }
}

#[test]
fn verdicts_become_the_words_of_junit() {
    let cases = [
        ("FAILED", "failure"),
        ("Quarantined", "failure"),
        ("SKIPPED", "skipped"),
        ("ERROR", "error"),
        ("TIMEOUT", "error"),
        ("STOPPED", "error"),
        ("BLOCKED", "error"),
        ("max_steps", "error"),
    ];
    for (result, element) in cases {
        let found = only(result, "why");
        let last = found.last().unwrap();

        assert_eq!(last.0, element, "{result}");
        assert!(
            attribute(last, "message").to_lowercase().starts_with(&format!("{}: why", result.to_lowercase())),
            "{last:?}"
        );

        let count = |name| attribute(&found[0], name);
        let expected = [("failure", "failures"), ("error", "errors")]
            .map(|(word, name)| (count(name), if word == element { "1" } else { "0" }));

        assert!(expected.iter().all(|(count, expected)| count == expected), "{result}: {expected:?}");
    }
}

#[test]
fn a_failure_tells_the_steps_that_failed_and_no_others() {
    let found = only("FAILED", "Three taps had no effect.");
    let (.., report) = found.last().unwrap();
    assert_eq!(
        report,
        "Player 1, step 2: Pause the game\nFAILED: Three taps had no effect.\n- failed: The menu opens (it did not)\n"
    );
}

#[test]
fn what_was_not_over_or_not_started_is_an_error() {
    let running: Item = serde_json::from_value(json!({"job_id": "j", "status": "RUNNING"})).unwrap();
    let rejected: Item = serde_json::from_value(
        json!({"job_id": "j", "status": "COMPLETED", "reason": "no_device_available"}),
    )
    .unwrap();
    let cases = [
        Case::new(&running, None, "p"),
        Case::new(&rejected, None, "p"),
        Case::not_started("Pixel 4", "broken", "p"),
    ];
    let found = elements(&document("p", &cases).unwrap());
    let errors: Vec<_> =
        found.iter().filter(|(name, ..)| name == "error").map(|one| attribute(one, "message")).collect();

    assert_eq!(errors, ["not finished", "no_run: no_device_available", "not started: broken"]);
    assert_eq!((attribute(&found[0], "tests"), attribute(&found[0], "errors")), ("3", "3"));
}

/// Texts are written by people and by agents: no text may end an element, break the XML or hide what it says.
#[test]
fn hostile_text_stays_text() {
    let hostile = "a ]]> <testcase name=\"x\"/> &amp; \u{0}\u{1B}[31m \u{8} \u{202E}desrever\u{2066} \u{FFFE} \
        \u{85} \u{200B} \r\n\tz '\"";
    let mut item = item(hostile);
    item.test_name = Some(hostile.to_owned());
    item.platform = Some(hostile.to_owned());

    let mut run = run(hostile, hostile);
    run["test"]["name"] = json!(hostile);
    run["build"]["name"] = json!(hostile);

    let xml = document(hostile, &[Case::new(&item, Some(&run), hostile)]).unwrap();
    let found = elements(&xml);

    assert_eq!(found.iter().filter(|(name, ..)| name == "testcase").count(), 1);
    for one in xml.chars() {
        let is_plain = matches!(one, '\t' | '\n' | ' '..='\u{7E}' | '\u{A0}'..='\u{D7FF}');
        let is_xml = is_plain || matches!(one, '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
        let is_hidden =
            matches!(one, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}');
        assert!(is_xml && !is_hidden, "{one:?}");
    }

    assert!(!xml.contains("]]>"), "{xml}");

    let (.., report) = found.last().unwrap();
    for said in ["]]> <testcase name=\"x\"/> &amp;", r"\u{0}\u{1b}[31m", r"\u{202e}desrever\u{2066}"] {
        assert!(report.contains(said), "{said}: {report}");
    }
}

/// CI systems take cases of one name for one case.
#[test]
fn instances_of_one_test_have_names_of_their_own() {
    let cases = [(); 3].map(|()| Case::new(&item("SUCCESS"), None, "p"));
    let found = elements(&document("p", &cases).unwrap());
    let names: Vec<_> =
        found.iter().filter(|(name, ..)| name == "testcase").map(|one| attribute(one, "name")).collect();
    let name = "Pause and resume [Pixel 8]";
    assert_eq!(names, [name, &format!("{name} (2)"), &format!("{name} (3)")]);
}

/// Some tests have a number in their own names.
#[test]
fn a_number_that_is_taken_is_not_given_again() {
    for (given, expected) in [
        (["A", "A (2)", "A"], ["A", "A (2)", "A (3)"]),
        (["A", "A", "A (2)"], ["A", "A (3)", "A (2)"]),
        (["A  B", "A B", "A\nB"], ["A B", "A B (2)", "A B (3)"]),
    ] {
        let cases = given.map(|name| {
            let item = json!({"job_id": "j", "test_name": name, "status": "COMPLETED", "result": "SUCCESS"});
            Case::new(&serde_json::from_value(item).expect("an item"), None, "p")
        });
        let found = elements(&document("p", &cases).unwrap());
        let cases = found.iter().filter(|(name, ..)| name == "testcase");
        assert_eq!(cases.map(|one| attribute(one, "name")).collect::<Vec<_>>(), expected);
    }
}
