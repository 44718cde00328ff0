//! Parses the URI of a resource into the arguments of its operation.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{template::RecordTemplate, template_table::TEMPLATES};
use crate::{fields::Fields, service::operation::placeholder};

/// A parsed resource URI.
#[derive(Debug)]
pub(super) struct RecordUri {
    pub(super) template: &'static RecordTemplate,
    pub(super) project: String,
    /// The arguments of the operation, without the project.
    pub(super) arguments: Fields,
}

/// Parses a resource URI.
///
/// # Errors
/// Why the URI is not valid, as a clause of an error message.
pub(super) fn parse(uri: &str) -> Result<RecordUri, String> {
    let root = RecordTemplate::ROOT;
    let rest = uri.strip_prefix(root).ok_or_else(|| format!("it does not begin with {root}"))?;
    if rest.contains(['?', '#']) {
        return Err("it must have no query and no fragment; write `?` as %3F and `#` as %23".to_owned());
    }

    let segments = rest.split('/').map(decode_segment).collect::<Result<Vec<_>, _>>()?;
    let (project, path) = segments.split_first().ok_or("it names no project")?;

    let found = TEMPLATES.iter().find_map(|template| Some((template, match_path(template, path)?)));
    let (template, arguments) = found.ok_or("no template has this path")?;

    Ok(RecordUri { template, project: project.clone(), arguments })
}

/// Returns the arguments if `path` matches the template. The values are not checked: the call checks them.
fn match_path(template: &'static RecordTemplate, path: &[String]) -> Option<Fields> {
    let expected: Vec<_> = template.path.split('/').collect();
    if expected.len() != path.len() {
        return None;
    }

    let mut arguments = Fields::new();
    for (expected, segment) in expected.into_iter().zip(path) {
        match placeholder(expected).and_then(|placeholder| template.variable(placeholder.name)) {
            Some(variable) => {
                arguments.insert(variable.argument.to_owned(), Value::from(segment.as_str()));
            }
            None if expected == segment => {}
            None => return None,
        }
    }

    Some(arguments)
}

/// Decodes the percent-encoding of a segment. A URI is split before it is decoded, so that no value can add a segment.
fn decode_segment(segment: &str) -> Result<String, String> {
    let mut after_percent = segment.split('%').skip(1);
    let is_escape = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !after_percent.all(is_escape) {
        return Err("a `%` is not followed by two hexadecimal digits; write it as %25".to_owned());
    }

    let decoded = percent_decode_str(segment).decode_utf8();
    decoded.map(String::from).map_err(|_| "its percent-encoded text is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::random_inputs::{check_texts, text};
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

    #[test]
    fn a_uri_is_split_into_template_project_and_arguments() {
        let cases = [
            ("tas://projects/demo/runs/r1", "run", "demo", r#"{"run_id":"r1"}"#),
            ("tas://projects/a%2Fb/bugs/x%20y", "bug", "a/b", r#"{"bug_id":"x y"}"#),
            ("tas://projects/demo/knowledge", "knowledge", "demo", "{}"),
            ("tas://projects/demo/runs/", "run", "demo", r#"{"run_id":""}"#),
        ];

        for (uri, name, project, arguments) in cases {
            let record = parse(uri).expect("a valid URI");
            assert_eq!((record.template.name, record.project.as_str()), (name, project), "{uri}");
            assert_eq!(serde_json::to_string(&record.arguments).expect("JSON"), arguments, "{uri}");
        }
    }

    #[test]
    fn an_invalid_uri_is_refused_with_a_reason() {
        let cases = [
            ("http://projects/demo/runs/r1", "does not begin with tas://projects/"),
            ("tas://projects/demo/runs/r1?x=1", "no query"),
            ("tas://projects/demo/runs/100%", "hexadecimal"),
            ("tas://projects/demo/runs/%FF", "UTF-8"),
            ("tas://projects/demo/runs/r1/steps", "no template"),
        ];

        for (uri, reason) in cases {
            let error = parse(uri).expect_err("an invalid URI");
            assert!(error.contains(reason), "{uri}: {error}");
        }
    }

    #[test]
    fn any_uri_is_parsed_or_refused() {
        check_texts(&(text(), text(), text()), |(uri, project, id)| {
            drop(parse(&uri));
            drop(parse(&format!("tas://projects/{project}/runs/{id}")));
        });
    }

    #[test]
    fn a_percent_encoded_id_arrives_unchanged() {
        check_texts(&text(), |id| {
            let encoded = utf8_percent_encode(&id, NON_ALPHANUMERIC);
            let record = parse(&format!("tas://projects/demo/runs/{encoded}")).expect("a valid URI");
            assert_eq!(record.arguments["run_id"], id.as_str());
        });
    }
}
