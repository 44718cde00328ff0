//! From the URI of a resource to the arguments of its tool.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::{TEMPLATES, Template};
use crate::{
    fields::Fields,
    service::{operation::placeholder, tool::PROJECT_ID},
};

/// What a URI stands for.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) template: &'static Template,
    pub(super) arguments: Fields,
}

/// Takes a URI apart; else says why it is none of ours.
pub(super) fn find(uri: &str) -> Result<Found, String> {
    let rest = uri
        .strip_prefix(Template::ROOT)
        .ok_or_else(|| format!("it does not begin with {}", Template::ROOT))?;
    if rest.contains(['?', '#']) {
        return Err("it must have no query and no fragment; write `?` as %3F and `#` as %23".to_owned());
    }

    let segments = rest.split('/').map(decoded).collect::<Result<Vec<_>, _>>()?;
    let (project, path) = segments.split_first().ok_or("it names no project")?;
    let found = TEMPLATES.iter().find_map(|template| Some((template, matched(template, path)?)));
    let (template, mut arguments) = found.ok_or("nothing has this path")?;

    arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));

    Ok(Found { template, arguments })
}

/// The arguments, where the path is one of the template. A value may be empty or hold anything: the tool judges it.
fn matched(template: &'static Template, path: &[String]) -> Option<Fields> {
    let expected: Vec<_> = template.path.split('/').collect();
    if expected.len() != path.len() {
        return None;
    }

    let mut arguments = Fields::new();
    for (expected, given) in expected.into_iter().zip(path) {
        match placeholder(expected).and_then(|found| template.variable(found.name)) {
            Some(variable) => {
                arguments.insert(variable.argument.to_owned(), Value::from(given.as_str()));
            }
            None if expected == given => {}
            None => return None,
        }
    }

    Some(arguments)
}

/// A segment without its percent signs. Decoded last, so that no value can add a segment.
fn decoded(segment: &str) -> Result<String, String> {
    let mut after_percent = segment.split('%').skip(1);
    let is_escape = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !after_percent.all(is_escape) {
        return Err("a `%` is not followed by two hexadecimal digits; write it as %25".to_owned());
    }

    let decoded = percent_decode_str(segment).decode_utf8();

    decoded.map(String::from).map_err(|_| "its percent-encoded text is not UTF-8".to_owned())
}
