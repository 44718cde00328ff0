//! The XML document.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event},
};

use super::{case::Case, outcome::Outcome};
use crate::text::visible;

type XmlWriter = Writer<Vec<u8>>;

/// Returns the JUnit document with the name `name` and the cases `cases`.
///
/// # Errors
/// Errors of the XML writer. Writing to memory does not cause any.
pub fn render_document(name: &str, cases: &[Case]) -> std::io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;

    let cases = with_unique_names(cases);
    let all: Vec<_> = cases.iter().collect();
    writer.write_event(Event::Start(with_totals(BytesStart::new("testsuites"), name, &all)))?;

    for case in &cases {
        write_suite(&mut writer, case)?;
    }

    writer.write_event(Event::End(BytesEnd::new("testsuites")))?;

    let mut text = String::from_utf8(writer.into_inner()).map_err(std::io::Error::other)?;
    text.push('\n');

    Ok(text)
}

/// Numbers the cases that share a name, because CI systems treat cases with the same name as one case.
fn with_unique_names(cases: &[Case]) -> Vec<Case> {
    let mut taken: BTreeSet<String> = cases.iter().map(|case| one_line(&case.name)).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut unique = Vec::new();

    for case in cases {
        let original = one_line(&case.name);
        let mut name = original.clone();
        let count = counts.entry(original.clone()).or_default();
        *count += 1;

        // The first case keeps its name. A numbered name may be the name of another case already.
        while *count > 1 {
            name = format!("{original} ({count})");
            if taken.insert(name.clone()) {
                break;
            }
            *count += 1;
        }

        unique.push(Case { name, ..case.clone() });
    }

    unique
}

fn write_suite(writer: &mut XmlWriter, case: &Case) -> std::io::Result<()> {
    let mut suite = with_totals(BytesStart::new("testsuite"), &case.name, &[case]);
    suite.push_attribute(("skipped", if case.outcome == Outcome::Skipped { "1" } else { "0" }));

    if let Some(started) = &case.started {
        suite.push_attribute(("timestamp", one_line(started).as_str()));
    }

    writer.write_event(Event::Start(suite))?;

    // The schema does not allow an element `properties` without an entry.
    if !case.properties.is_empty() {
        write_properties(writer, &case.properties)?;
    }

    write_case(writer, case)?;

    writer.write_event(Event::End(BytesEnd::new("testsuite")))
}

fn write_properties(writer: &mut XmlWriter, properties: &[(&str, String)]) -> std::io::Result<()> {
    writer.write_event(Event::Start(BytesStart::new("properties")))?;

    for (name, value) in properties {
        let value = one_line(value);
        let property = BytesStart::new("property");
        let property = property.with_attributes([("name", *name), ("value", value.as_str())]);
        writer.write_event(Event::Empty(property))?;
    }

    writer.write_event(Event::End(BytesEnd::new("properties")))
}

fn write_case(writer: &mut XmlWriter, case: &Case) -> std::io::Result<()> {
    let (name, class, time) = (one_line(&case.name), one_line(&case.class), format_seconds(case.seconds));
    let element = BytesStart::new("testcase").with_attributes([
        ("name", name.as_str()),
        ("classname", class.as_str()),
        ("time", time.as_str()),
    ]);
    let Some(outcome) = case.outcome.element() else {
        return writer.write_event(Event::Empty(element));
    };

    writer.write_event(Event::Start(element))?;

    let (verdict, message) = (one_line(&case.verdict), one_line(&case.message));
    let attributes = [("type", verdict.as_str()), ("message", message.as_str())];
    writer.write_event(Event::Start(BytesStart::new(outcome).with_attributes(attributes)))?;
    writer.write_event(Event::Text(BytesText::new(&escape_invisible(&case.report))))?;
    writer.write_event(Event::End(BytesEnd::new(outcome)))?;

    writer.write_event(Event::End(BytesEnd::new("testcase")))
}

/// Adds the attributes that a suite and the root element share: the name, the number of cases by outcome, and the time.
fn with_totals<'a>(element: BytesStart<'a>, name: &str, cases: &[&Case]) -> BytesStart<'a> {
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count().to_string();
    let seconds = cases.iter().map(|case| case.seconds).sum();

    element.with_attributes([
        ("name", one_line(name).as_str()),
        ("tests", cases.len().to_string().as_str()),
        ("failures", count(Outcome::Failure).as_str()),
        ("errors", count(Outcome::Error).as_str()),
        ("time", format_seconds(seconds).as_str()),
    ])
}

fn format_seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}

/// Returns `text` in one line, with one space between words.
fn one_line(text: &str) -> String {
    escape_invisible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes hidden characters, and replaces other characters that XML does not allow by their escape sequences.
fn escape_invisible(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in visible(text).chars() {
        let is_allowed =
            matches!(character, '\n' | '\t' | ' '..='\u{7E}' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'..);
        match character {
            '\r' => {}
            _ if is_allowed => escaped.push(character),
            _ => escaped.extend(character.escape_unicode()),
        }
    }

    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        random_inputs::{check_texts, text},
        text::has_hidden,
    };
    use quick_xml::{Reader, events::Event};

    #[test]
    fn hidden_characters_are_removed_and_forbidden_ones_escaped() {
        let cases = [("a\r\nb", "a\nb"), ("a\u{0}b\u{202E}", "ab"), ("a\u{FFFE}", "a\\u{fffe}"), ("ü", "ü")];
        for (text, expected) in cases {
            assert_eq!(escape_invisible(text), expected);
        }
    }

    #[test]
    fn line_breaks_and_repeated_spaces_become_one_space() {
        assert_eq!(one_line(" a\n  b\tc "), "a b c");
    }

    /// A case all of whose texts are `text`.
    fn case(text: &str, outcome: Outcome) -> Case {
        let text = text.to_owned();
        Case {
            name: text.clone(),
            class: text.clone(),
            outcome,
            verdict: text.clone(),
            message: text.clone(),
            report: text.clone(),
            seconds: 1.5,
            started: Some(text.clone()),
            properties: vec![("run_id", text)],
        }
    }

    /// Returns the names of the elements of a document.
    fn elements(document: &str) -> Vec<String> {
        let mut reader = Reader::from_str(document);
        let mut names = Vec::new();
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Start(element) | Event::Empty(element) => {
                    assert!(element.attributes().all(|attribute| attribute.is_ok()));
                    names.push(element.name().as_ref().to_owned());
                }
                Event::Eof => return names,
                _ => {}
            }
        }
    }

    #[test]
    fn texts_add_no_element_and_no_hidden_character_to_the_document() {
        check_texts(&(text(), text()), |(name, text)| {
            let cases = [case(&text, Outcome::Failure), case(&name, Outcome::Passed)];
            let document = render_document(&name, &cases).expect("a document");

            let suite = ["testsuite", "properties", "property", "testcase"];
            let expected = [&["testsuites"], &suite[..], &["failure"], &suite[..]].concat();
            assert_eq!(elements(&document), expected, "{document}");
            assert!(!has_hidden(&document), "{document}");
        });
    }
}
