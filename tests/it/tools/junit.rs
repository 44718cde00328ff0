//! The JUnit document of a wait.

use quick_xml::{Reader, escape::unescape, events::Event};
use serde_json::json;
use tas_mcp::{
    cli::junit::{Case, render_document},
    service::{api::runs::RunDetail, lenient::view},
    tools::waiting::ResultItem,
};

/// Name, attributes and text of an element.
pub(in crate::tools) type Element = (String, Vec<(String, String)>, String);

/// Returns the elements of a document in order.
pub(in crate::tools) fn elements(xml: &str) -> Vec<Element> {
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
            // Text between elements is indentation.
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

/// Returns the value of an attribute; an empty string if there is none.
pub(in crate::tools) fn attribute<'a>(element: &'a Element, name: &str) -> &'a str {
    element.1.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

/// Returns the result of a job.
fn item(result: &str) -> ResultItem {
    let item = json!({
        "job_id": "j", "run_id": "r", "test_name": "Pause and resume", "platform": "Pixel 8", "status": "COMPLETED",
        "result": result,
    });
    serde_json::from_value(item).expect("an item")
}

/// Returns the record of a run with three steps.
fn run(result: &str, report: &str) -> RunDetail {
    let step = |number: u32, result: &str, report: &str| {
        json!({
            "step_number": number, "run_state": "COMPLETED", "run_result": result, "report": report,
            "items": [{"id": "1a", "expected": "The menu opens", "status": "failed", "comment": "it did not"}],
            "test": {"goal": "Pause the game"},
        })
    };

    let steps = [step(1, "SUCCESS", "fine"), step(2, result, report), step(3, "SKIPPED", "never reached")];

    view(&json!({
        "test": {"id": "t", "name": "Pause and resume"}, "build": {"id": "b", "name": "nightly 414"},
        "started_at": "2026-03-02T09:00:00+00:00", "duration_ms": 61_500.25,
        "players": [{"player_number": 1, "steps": steps}],
    }))
}

/// Returns the elements of a document with one case.
fn render_single(result: &str, report: &str) -> Vec<Element> {
    let case = Case::new(&item(result), Some(&run(result, report)), "Smoke");
    elements(&render_document("Smoke", &[case]).expect("a document"))
}

#[test]
fn a_run_becomes_a_case_in_a_suite_with_its_ids() {
    let found = render_single("SUCCESS", "fine");
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
fn each_verdict_becomes_a_junit_outcome() {
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
        let found = render_single(result, "why");
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
fn a_failure_contains_only_the_failed_steps() {
    let found = render_single("FAILED", "Three taps had no effect.");
    let (.., report) = found.last().unwrap();
    assert_eq!(
        report,
        "Player 1, step 2: Pause the game\nFAILED: Three taps had no effect.\n- failed: The menu opens (it did not)\n"
    );
}

#[test]
fn unfinished_and_unstarted_tests_are_errors() {
    let running: ResultItem = serde_json::from_value(json!({"job_id": "j", "status": "RUNNING"})).unwrap();
    let rejected: ResultItem = serde_json::from_value(
        json!({"job_id": "j", "status": "COMPLETED", "reason": "no_device_available"}),
    )
    .unwrap();
    let cases = [
        Case::new(&running, None, "p"),
        Case::new(&rejected, None, "p"),
        Case::not_started("Pixel 4", "broken", "p"),
    ];
    let found = elements(&render_document("p", &cases).unwrap());
    let errors: Vec<_> =
        found.iter().filter(|(name, ..)| name == "error").map(|one| attribute(one, "message")).collect();

    assert_eq!(errors, ["not finished", "no_run: no_device_available", "not started: broken"]);
    assert_eq!((attribute(&found[0], "tests"), attribute(&found[0], "errors")), ("3", "3"));
}

/// Texts come from people and agents. No text may end an element, break the XML or hide its content.
#[test]
fn hostile_text_is_escaped() {
    let hostile = "a ]]> <testcase name=\"x\"/> &amp; \u{0}\u{1B}[31m \u{8} \u{202E}desrever\u{2066} \u{FFFE} \
        \u{85} \u{200B} \r\n\tz '\"";
    let mut item = item(hostile);
    item.test_name = Some(hostile.to_owned());
    item.platform = Some(hostile.to_owned());

    let mut run = run(hostile, hostile);
    run.head.test.name = hostile.to_owned();
    run.head.build.as_mut().expect("a build").name = Some(hostile.to_owned());

    let xml = render_document(hostile, &[Case::new(&item, Some(&run), hostile)]).unwrap();
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
    for said in ["]]> <testcase name=\"x\"/> &amp;", "[31m", "desrever"] {
        assert!(report.contains(said), "{said}: {report}");
    }
}

/// CI systems treat cases with the same name as one case.
#[test]
fn cases_with_the_same_name_are_numbered() {
    let cases = [(); 3].map(|()| Case::new(&item("SUCCESS"), None, "p"));
    let found = elements(&render_document("p", &cases).unwrap());
    let names: Vec<_> =
        found.iter().filter(|(name, ..)| name == "testcase").map(|one| attribute(one, "name")).collect();
    let name = "Pause and resume [Pixel 8]";
    assert_eq!(names, [name, &format!("{name} (2)"), &format!("{name} (3)")]);
}

/// The name of a test may end with a number.
#[test]
fn a_number_that_a_test_name_contains_is_not_used_again() {
    for (given, expected) in [
        (["A", "A (2)", "A"], ["A", "A (2)", "A (3)"]),
        (["A", "A", "A (2)"], ["A", "A (3)", "A (2)"]),
        (["A  B", "A B", "A\nB"], ["A B", "A B (2)", "A B (3)"]),
    ] {
        let cases = given.map(|name| {
            let item = json!({"job_id": "j", "test_name": name, "status": "COMPLETED", "result": "SUCCESS"});
            Case::new(&serde_json::from_value(item).expect("an item"), None, "p")
        });

        let found = elements(&render_document("p", &cases).unwrap());
        let cases = found.iter().filter(|(name, ..)| name == "testcase");

        assert_eq!(cases.map(|one| attribute(one, "name")).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn attempts_before_a_pass_are_flaky_runs_and_those_before_a_failure_are_reruns() {
    for (result, expected) in
        [("SUCCESS", ["flakyError", "flakyFailure"]), ("FAILED", ["rerunError", "rerunFailure"])]
    {
        let mut item = item(result);
        item.earlier = vec!["TIMEOUT".to_owned(), "FAILED".to_owned()];
        let found = elements(&render_document("p", &[Case::new(&item, None, "p")]).unwrap());
        let attempts = found.iter().filter(|(name, ..)| name.starts_with(&expected[0][..5]));
        let attempts: Vec<_> = attempts.map(|one| (one.0.as_str(), attribute(one, "type"))).collect();

        assert_eq!(attempts, [(expected[0], "TIMEOUT"), (expected[1], "FAILED")], "{result}");
        assert_eq!(attribute(&found[0], "tests"), "1");
    }
}

#[test]
fn an_attempt_that_could_be_read_has_the_report_of_its_step_and_its_time() {
    let case = Case::new(&item("SUCCESS"), None, "p").with_earlier_runs(&[run("TIMEOUT", "It hung.")]);
    let found = elements(&render_document("p", &[case]).unwrap());
    let attempt = found.iter().find(|(name, ..)| name == "flakyError").expect("an attempt");
    let (.., trace) = found.iter().find(|(name, ..)| name == "stackTrace").expect("a report");

    assert_eq!(attribute(attempt, "time"), "61.500");
    assert!(trace.starts_with("Player 1, step 2: Pause the game\nTIMEOUT: It hung.\n"), "{trace}");
}

#[test]
fn bugs_are_properties_and_attachments_are_in_the_output() {
    let bug = view(&json!({"bug_id": "bug_1", "title": "It hangs", "severity": "high"}));
    let case = Case::new(&item("SUCCESS"), None, "p");
    let case = case.with_bugs(&[bug]).with_attachments(vec!["report-screenshots/r-1-end.png".to_owned()]);
    let found = elements(&render_document("p", &[case]).unwrap());
    let property = found.iter().find(|one| attribute(one, "name") == "bug").expect("a property");
    let (.., output) = found.iter().find(|(name, ..)| name == "system-out").expect("an output");

    assert_eq!(attribute(property, "value"), "high: It hangs (bug_1)");
    assert_eq!(output, "Bug: high: It hangs (bug_1)\n[[ATTACHMENT|report-screenshots/r-1-end.png]]\n");
}
