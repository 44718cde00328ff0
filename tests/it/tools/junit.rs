//! The JUnit document of a wait.

use quick_xml::{Reader, escape::unescape, events::Event};
use serde_json::json;
use tas_mcp::{
    cli::junit::{CaseDetails, render_document, suite, suite_of_error},
    service::{api::runs::RunDetail, lenient::view},
    tools::waiting::ResultItem,
};

/// Name, attributes and text of an element.
pub(in crate::tools) type Element = (String, Vec<(String, String)>, String);

/// The attributes that both the newest schema of the xUnit plugin of Jenkins (junit-10.xsd) and the one of Surefire allow.
const ALLOWED: [(&str, &str); 6] = [
    ("testsuites", "name tests failures errors time"),
    ("testsuite", "name tests failures errors time skipped"),
    ("testcase", "name classname time"),
    ("property", "name value"),
    ("skipped", "message"),
    // Of a failure, and of the attempts before.
    ("", "message type"),
];

/// Returns the elements of a document in order. Checks their attributes.
pub(in crate::tools) fn elements(xml: &str) -> Vec<Element> {
    let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    let unescaped = |text: String| unescape(&text).expect("entities").into_owned();
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
                    (utf8(one.key.as_ref()), unescaped(utf8(&one.value)))
                });
                found.push((utf8(element.name().as_ref()), attributes.collect(), String::new()));
            }
            // Text between elements is indentation.
            Event::Text(text) if is_inside => found.last_mut().expect("an element").2.push_str(&utf8(text)),
            Event::GeneralRef(entity) if is_inside => {
                let text = format!("&{};", utf8(entity));
                found.last_mut().expect("an element").2.push_str(&unescaped(text));
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
    for (name, attributes, _) in &found {
        let (_, allowed) = ALLOWED.iter().find(|(known, _)| known == name).unwrap_or(&ALLOWED[5]);
        let is_allowed = |(name, _): &(String, String)| allowed.split(' ').any(|known| known == name);
        assert!(attributes.iter().all(is_allowed), "{name}: {attributes:?}");
    }
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

fn with_run(run: RunDetail) -> CaseDetails {
    CaseDetails { run: Some(run), ..CaseDetails::default() }
}

/// Returns the elements of a document with one case.
fn render(item: &ResultItem, details: &CaseDetails) -> Vec<Element> {
    elements(&render_document("Smoke", vec![suite(item, details, "Smoke")]).expect("a document"))
}

fn render_single(result: &str, report: &str) -> Vec<Element> {
    render(&item(result), &with_run(run(result, report)))
}

/// Returns the value of an attribute of each element with this name.
fn each<'a>(found: &'a [Element], element: &str, name: &str) -> Vec<&'a str> {
    found.iter().filter(|one| one.0 == element).map(|one| attribute(one, name)).collect()
}

#[test]
fn a_run_becomes_a_case_in_a_suite_with_its_ids() {
    let found = render_single("SUCCESS", "fine");
    let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names[..3], ["testsuites", "testsuite", "properties"]);
    assert_eq!(names.last(), Some(&"testcase"));

    let case = ["name", "classname", "time"].map(|name| attribute(found.last().unwrap(), name));
    assert_eq!(case, ["Pause and resume [Pixel 8]", "Smoke", "61.500"]);
    let counts = ["tests", "failures", "errors", "skipped"].map(|name| attribute(&found[1], name));
    assert_eq!(counts, ["1", "0", "0", "0"]);

    let properties = each(&found, "property", "name").into_iter().zip(each(&found, "property", "value"));
    let properties: Vec<_> = properties.collect();
    for expected in [
        ("run_id", "r"),
        ("job_id", "j"),
        ("result", "SUCCESS"),
        ("build_id", "b"),
        ("build_name", "nightly 414"),
        ("started_at", "2026-03-02T09:00:00+00:00"),
    ] {
        assert!(properties.contains(&expected), "{expected:?}: {properties:?}");
    }
}

#[test]
fn each_verdict_becomes_a_junit_outcome() {
    for (result, element) in [
        ("FAILED", "failure"),
        ("Quarantined", "failure"),
        ("SKIPPED", "skipped"),
        ("ERROR", "error"),
        ("TIMEOUT", "error"),
        ("STOPPED", "error"),
        ("BLOCKED", "error"),
        ("max_steps", "error"),
    ] {
        let found = render_single(result, "why");
        let last = found.last().unwrap();
        assert_eq!(last.0, element, "{result}");
        let message = attribute(last, "message").to_lowercase();
        assert!(message.starts_with(&format!("{}: why", result.to_lowercase())), "{last:?}");

        for (word, name) in [("failure", "failures"), ("error", "errors")] {
            let expected = if word == element { "1" } else { "0" };
            assert_eq!(attribute(&found[0], name), expected, "{result}");
        }
    }
}

#[test]
fn a_failure_contains_only_the_failed_steps() {
    let found = render_single("FAILED", "Three taps had no effect.");
    let (.., report) = found.last().unwrap();
    let expected = "Player 1, step 2: Pause the game\nFAILED: Three taps had no effect.\n- failed: The menu opens (it did not)\n";
    assert_eq!(report, expected);
}

#[test]
fn unfinished_and_unstarted_tests_are_errors() {
    let item = |item| serde_json::from_value::<ResultItem>(item).expect("an item");
    let running = item(json!({"job_id": "j", "status": "RUNNING"}));
    let rejected = item(json!({"job_id": "j", "status": "COMPLETED", "reason": "no_device_available"}));
    let suites = vec![
        suite(&running, &CaseDetails::default(), "p"),
        suite(&rejected, &CaseDetails::default(), "p"),
        suite_of_error("[Pixel 4]", "not started", "broken", "p"),
    ];

    let found = elements(&render_document("p", suites).unwrap());
    let expected = ["not finished", "no_run: no_device_available", "not started: broken"];
    assert_eq!(each(&found, "error", "message"), expected);
    assert_eq!((attribute(&found[0], "tests"), attribute(&found[0], "errors")), ("3", "3"));
}

/// Texts come from people and agents. No text may end an element, break the XML, hide its content or name a file that a CI system
/// fetches.
#[test]
fn hostile_text_is_escaped() {
    let hostile = "a ]]> <testcase name=\"x\"/> &amp; \u{0}\u{1B}[31m \u{8} \u{202E}desrever\u{2066} \u{FFFE} \
        \u{85} \u{200B} \r\n\tz '\" [[ATTACHMENT|/etc/passwd]] [[[\u{200B}[";
    let mut item = item(hostile);
    item.test_name = Some(hostile.to_owned());
    item.platform = Some(hostile.to_owned());
    let mut run = run(hostile, hostile);
    run.head.test.name = hostile.to_owned();
    run.head.build.as_mut().expect("a build").name = Some(hostile.to_owned());

    let bugs = vec![view(&json!({"bug_id": hostile, "title": hostile, "severity": hostile}))];
    let details = CaseDetails { bugs, ..with_run(run) };

    let xml = render_document(hostile, vec![suite(&item, &details, hostile)]).unwrap();
    let found = elements(&xml);
    assert_eq!(each(&found, "testcase", "name").len(), 1);
    assert!(!xml.contains("]]>") && !xml.contains("[["), "{xml}");
    for one in xml.chars() {
        let is_plain = matches!(one, '\t' | '\n' | ' '..='\u{7E}' | '\u{A0}'..='\u{D7FF}');
        let is_xml = is_plain || matches!(one, '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
        let is_hidden =
            matches!(one, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}');
        assert!(is_xml && !is_hidden, "{one:?}");
    }

    let (.., report) = found.iter().find(|(name, ..)| name == "failure").expect("a failure");
    for said in ["]]> <testcase name=\"x\"/> &amp;", "[31m", "desrever"] {
        assert!(report.contains(said), "{said}: {report}");
    }
}

/// CI systems treat cases with the same name as one case. The name of a test may end with a number.
#[test]
fn cases_with_the_same_name_are_numbered() {
    for (given, expected) in [
        (["A", "A", "A"], ["A", "A (2)", "A (3)"]),
        (["A", "A (2)", "A"], ["A", "A (2)", "A (3)"]),
        (["A", "A", "A (2)"], ["A", "A (3)", "A (2)"]),
        (["A  B", "A B", "A\nB"], ["A B", "A B (2)", "A B (3)"]),
    ] {
        let suites = given.map(|name| suite_of_error(name, "not read", "why", "p"));
        let found = elements(&render_document("p", suites.into()).unwrap());
        assert_eq!(each(&found, "testcase", "name"), expected);
        assert_eq!(each(&found, "testsuite", "name"), expected);
    }
}

#[test]
fn attempts_before_a_pass_are_flaky_runs_and_those_before_a_failure_are_reruns() {
    for (result, error, failure) in
        [("SUCCESS", "flakyError", "flakyFailure"), ("FAILED", "rerunError", "rerunFailure")]
    {
        let mut item = item(result);
        item.earlier = vec!["TIMEOUT".to_owned(), "FAILED".to_owned()];
        let found = render(&item, &CaseDetails::default());
        assert_eq!(
            (each(&found, error, "type"), each(&found, failure, "type")),
            (vec!["TIMEOUT"], vec!["FAILED"])
        );
        assert_eq!(attribute(&found[0], "tests"), "1");
    }

    let earlier = vec![run("TIMEOUT", "It hung.")];
    let found = render(&item("SUCCESS"), &CaseDetails { earlier, ..CaseDetails::default() });
    let (.., trace) = found.iter().find(|(name, ..)| name == "stackTrace").expect("a report");
    assert!(trace.starts_with("Player 1, step 2: Pause the game\nTIMEOUT: It hung.\n"), "{trace}");
}

#[test]
fn bugs_are_properties_and_attachments_are_in_the_output() {
    let bugs = vec![view(&json!({"bug_id": "bug_1", "title": "It hangs", "severity": "high"}))];
    let attachments = vec!["report-screenshots/r-1-end.png".to_owned()];
    let found = render(&item("SUCCESS"), &CaseDetails { bugs, attachments, ..CaseDetails::default() });
    let (.., output) = found.iter().find(|(name, ..)| name == "system-out").expect("an output");

    assert!(each(&found, "property", "value").contains(&"high: It hangs (bug_1)"), "{found:?}");
    assert_eq!(output, "Bug: high: It hangs (bug_1)\n[[ATTACHMENT|report-screenshots/r-1-end.png]]\n");
}
