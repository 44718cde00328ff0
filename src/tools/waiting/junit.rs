//! The runs of a wait as JUnit XML, as CI systems read it: a suite for each job, with one case, the run that counts.
//! Keeps to the elements and attributes of the schema that Jenkins publishes (`junit-10.xsd`).

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::{
    Writer,
    events::{BytesEnd, BytesStart, BytesText, Event},
};
use serde_json::Value;

use super::{Completion, Item, item::text};
use crate::text::is_hidden;

/// Longest message of a failure, in characters; the whole is in the text below it.
const LONGEST_MESSAGE: usize = 300;

/// How a case ended, in the words of JUnit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is said.
    Passed,
    /// The product did not do what was expected.
    Failure,
    /// There is no verdict on the product.
    Error,
    /// Nothing was checked.
    Skipped,
}

impl Kind {
    /// What a verdict is; an unknown one is a failure, since it is no success. `None`: it was not over in time.
    fn of(verdict: Option<&str>) -> Self {
        match verdict {
            Some("SUCCESS") => Self::Passed,
            Some("SKIPPED") => Self::Skipped,
            Some("ERROR" | "TIMEOUT" | "STOPPED" | "BLOCKED" | "MAX_STEPS" | "no_run" | "no_result")
            | None => Self::Error,
            Some(_) => Self::Failure,
        }
    }

    fn element(self) -> Option<&'static str> {
        match self {
            Self::Passed => None,
            Self::Failure => Some("failure"),
            Self::Error => Some("error"),
            Self::Skipped => Some("skipped"),
        }
    }
}

/// A run as a case.
#[derive(Clone, Debug)]
pub struct Case {
    name: String,
    class: String,
    kind: Kind,
    /// Word of the service, or ours.
    verdict: String,
    message: String,
    report: String,
    seconds: f64,
    started: Option<String>,
    properties: Vec<(&'static str, String)>,
}

impl Case {
    /// The case of an item, with its run where that could be read. `plan` is what it was started by.
    pub fn new(item: &Item, run: Option<&Value>, plan: &str) -> Self {
        let verdict = item.verdict();
        let kind = Kind::of(verdict.as_deref());
        let verdict = verdict.unwrap_or_else(|| "not finished".to_owned());
        let steps = run.map(steps).unwrap_or_default();
        let first = steps.iter().find(|step| step.is_cause(kind)).map(|step| step.report.clone());
        let why = item.reason.clone().or(first);
        let message = why.map_or(verdict.clone(), |why| format!("{verdict}: {why}"));
        let platform = item.platform.as_ref().map(|platform| format!(" [{platform}]"));
        let run_name = run.and_then(|run| run.pointer("/test/name")?.as_str());

        Self {
            name: format!("{}{}", run_name.unwrap_or_else(|| item.name()), platform.unwrap_or_default()),
            class: plan.to_owned(),
            kind,
            message: message.chars().take(LONGEST_MESSAGE).collect(),
            report: steps.iter().filter(|step| step.is_cause(kind)).map(Step::told).collect(),
            seconds: run.and_then(|run| run.get("duration_ms")?.as_f64()).unwrap_or_default() / 1_000.0,
            started: run.and_then(|run| text(run, "started_at")),
            properties: properties(item, run, &verdict),
            verdict,
        }
    }

    /// A device on which nothing could be started.
    pub fn not_started(device: &str, why: &str, plan: &str) -> Self {
        Self::without_test(format!("[{device}]"), "not started", why, plan)
    }

    /// Tests of which nothing is known but that they are there.
    pub fn not_read(why: &str, plan: &str) -> Self {
        Self::without_test("[other tests]".to_owned(), "not read", why, plan)
    }

    fn without_test(name: String, verdict: &str, why: &str, plan: &str) -> Self {
        Self {
            name,
            class: plan.to_owned(),
            kind: Kind::Error,
            verdict: verdict.to_owned(),
            message: format!("{verdict}: {why}"),
            report: String::new(),
            seconds: 0.0,
            started: None,
            properties: Vec::new(),
        }
    }
}

fn properties(item: &Item, run: Option<&Value>, verdict: &str) -> Vec<(&'static str, String)> {
    let of_run = |path: &str| run.and_then(|run| run.pointer(path)?.as_str()).map(str::to_owned);
    let all = [
        ("run_id", item.run_id.clone()),
        ("job_id", item.job_id.clone()),
        ("result", Some(verdict.to_owned())),
        ("test_id", of_run("/test/id")),
        ("build_id", of_run("/build/id")),
        ("build_name", of_run("/build/name")),
        ("platform", item.platform.clone()),
        ("attempts", item.attempts.map(|attempts| attempts.to_string())),
    ];

    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A step of a player.
struct Step {
    player: u64,
    number: u64,
    result: String,
    goal: String,
    report: String,
    items: Vec<String>,
}

impl Step {
    /// Whether it is a reason for the verdict. Steps after a failure are skipped by themselves.
    fn is_cause(&self, kind: Kind) -> bool {
        let is_skipped = self.result.eq_ignore_ascii_case("SKIPPED");
        !self.result.is_empty()
            && !self.result.eq_ignore_ascii_case("SUCCESS")
            && (!is_skipped || kind == Kind::Skipped)
    }

    fn told(&self) -> String {
        let Self { player, number, result, goal, report, items } = self;
        let mut told = format!("Player {player}, step {number}: {goal}\n{result}: {report}\n");
        told.extend(items.iter().map(|item| format!("- {item}\n")));
        told
    }
}

fn steps(run: &Value) -> Vec<Step> {
    let players = run.get("players").and_then(Value::as_array).into_iter().flatten();
    let of_player = |player: &Value| -> Vec<Step> {
        let number = player.get("player_number").and_then(Value::as_u64).unwrap_or(1);
        let steps = player.get("steps").and_then(Value::as_array).into_iter().flatten();
        steps.map(|value| step(number, value)).collect()
    };
    players.flat_map(of_player).collect()
}

fn step(player: u64, step: &Value) -> Step {
    let items = step.get("items").and_then(Value::as_array).into_iter().flatten();
    let item = |item: &Value| {
        let part = |name: &str| text(item, name).unwrap_or_default();
        let comment = text(item, "comment").map(|comment| format!(" ({comment})")).unwrap_or_default();
        format!("{}: {}{comment}", part("status"), part("expected"))
    };
    let goal = |name: &str| step.pointer(&format!("/test/{name}")).and_then(Value::as_str).map(str::to_owned);

    Step {
        player,
        number: step.get("step_number").and_then(Value::as_u64).unwrap_or_default(),
        result: text(step, "run_result").unwrap_or_default(),
        goal: goal("goal").unwrap_or_default(),
        report: text(step, "report").unwrap_or_default(),
        items: items.map(item).collect(),
    }
}

/// Name of what was started, for [`Case::new`]: that of the plan, else the type of the test.
pub fn plan_name(completion: &Completion) -> String {
    let name = completion.resource.as_ref().and_then(|resource| resource.get("test_plan_name")?.as_str());
    name.unwrap_or("tests").to_owned()
}

/// The document.
///
/// # Errors
/// None that a string in memory knows.
pub fn document(name: &str, cases: &[Case]) -> std::io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let declaration = quick_xml::events::BytesDecl::new("1.0", Some("UTF-8"), None);
    writer.write_event(Event::Decl(declaration))?;

    let cases = told_apart(cases);
    let all: Vec<_> = cases.iter().collect();
    let root = counted(BytesStart::new("testsuites"), name, &all);

    writer.write_event(Event::Start(root))?;
    for case in &cases {
        suite(&mut writer, case)?;
    }

    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
    let mut text = String::from_utf8(writer.into_inner()).map_err(std::io::Error::other)?;
    text.push('\n');

    Ok(text)
}

/// The cases with names that are there once: CI systems take cases of one name for one case.
fn told_apart(cases: &[Case]) -> Vec<Case> {
    let mut taken: BTreeSet<String> = cases.iter().map(|case| line(&case.name)).collect();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let numbered = cases.iter().map(|case| {
        let (own, mut name) = (line(&case.name), line(&case.name));
        let times = times.entry(own.clone()).or_default();
        *times += 1;
        // The first keeps its name; another may have a number already.
        while *times > 1 {
            name = format!("{own} ({times})");
            if taken.insert(name.clone()) {
                break;
            }
            *times += 1;
        }
        Case { name, ..case.clone() }
    });

    numbered.collect()
}

type Xml = Writer<Vec<u8>>;

fn suite(writer: &mut Xml, case: &Case) -> std::io::Result<()> {
    let mut suite = counted(BytesStart::new("testsuite"), &case.name, &[case]);
    suite.push_attribute(("skipped", if case.kind == Kind::Skipped { "1" } else { "0" }));

    if let Some(started) = &case.started {
        suite.push_attribute(("timestamp", line(started).as_str()));
    }

    writer.write_event(Event::Start(suite))?;
    if !case.properties.is_empty() {
        writer.write_event(Event::Start(BytesStart::new("properties")))?;
        for (name, value) in &case.properties {
            let property = BytesStart::new("property");
            let property = property.with_attributes([("name", *name), ("value", line(value).as_str())]);
            writer.write_event(Event::Empty(property))?;
        }
        writer.write_event(Event::End(BytesEnd::new("properties")))?;
    }

    write_case(writer, case)?;

    writer.write_event(Event::End(BytesEnd::new("testsuite")))
}

fn write_case(writer: &mut Xml, case: &Case) -> std::io::Result<()> {
    let (name, class, time) = (line(&case.name), line(&case.class), time(case.seconds));
    let element = BytesStart::new("testcase").with_attributes([
        ("name", name.as_str()),
        ("classname", class.as_str()),
        ("time", time.as_str()),
    ]);
    let Some(outcome) = case.kind.element() else {
        return writer.write_event(Event::Empty(element));
    };

    writer.write_event(Event::Start(element))?;
    let (verdict, message) = (line(&case.verdict), line(&case.message));
    let attributes = [("type", verdict.as_str()), ("message", message.as_str())];

    writer.write_event(Event::Start(BytesStart::new(outcome).with_attributes(attributes)))?;
    writer.write_event(Event::Text(BytesText::new(&visible(&case.report))))?;
    writer.write_event(Event::End(BytesEnd::new(outcome)))?;

    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

/// Adds what suites and the whole have alike.
fn counted<'a>(element: BytesStart<'a>, name: &str, cases: &[&Case]) -> BytesStart<'a> {
    let count = |kind| cases.iter().filter(|case| case.kind == kind).count().to_string();
    let seconds = cases.iter().map(|case| case.seconds).sum();

    element.with_attributes([
        ("name", line(name).as_str()),
        ("tests", cases.len().to_string().as_str()),
        ("failures", count(Kind::Failure).as_str()),
        ("errors", count(Kind::Error).as_str()),
        ("time", time(seconds).as_str()),
    ])
}

fn time(seconds: f64) -> String {
    format!("{seconds:.3}")
}

/// Text in one line.
fn line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text without characters that XML does not have, and without those that hide or reverse what is read: they are
/// written as their numbers.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        let is_text = matches!(one, '\n' | '\t' | ' '..='\u{7E}' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'..);
        match one {
            '\r' => {}
            _ if is_text && !is_hidden(one) => shown.push(one),
            _ => shown.extend(one.escape_unicode()),
        }
    }

    shown
}
