//! How the arguments of an operation become an HTTP request: path, query and body.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::{
    fields::Fields,
    service::{
        api::artifacts::DEFAULT_PART,
        catalog::OperationEntry,
        operation::{Placeholder, ResponseKind, TMSYS, UrlBase, placeholder},
        schema::KNOWN,
    },
    text::shorten_name,
    violation::Violation,
};

/// Everything but the unreserved characters of RFC 3986, so that a value can change neither path nor query.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Longest path and query, in bytes: servers refuse more, and say so less clearly.
const LONGEST_TARGET: usize = 8_000;

/// Longest value of one path segment, in bytes. Ids are far shorter.
const LONGEST_SEGMENT: usize = 300;

/// An operation laid out on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where the path begins.
    pub place: UrlBase,
    /// Path below its place, percent-encoded.
    pub path: String,
    /// Query without `?`, percent-encoded; empty where there is none.
    pub query: String,
    /// JSON body, where there is one.
    pub body: Option<Vec<u8>>,
    /// The part that is wanted of a file.
    pub part: Option<Part>,
}

impl Layout {
    /// Path and query below the address of the host; an operation of a project goes to `project`, or to the route
    /// without one.
    pub fn target(&self, project: Option<&str>) -> String {
        let mut target = String::with_capacity(self.path.len() + self.query.len() + 32);
        let is_below_project = matches!(self.place, UrlBase::Project | UrlBase::NamedProject);

        if let Some(project) = project.filter(|_| is_below_project) {
            target.push_str("/project/");
            target.push_str(&encoded(project));
        }

        target.push_str(&self.path);
        if !self.query.is_empty() {
            target.push('?');
            target.push_str(&self.query);
        }

        target
    }
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// First byte.
    pub offset: u64,
    /// Bytes, at least one.
    pub length: u64,
}

/// Percent-encodes one path segment or query value.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Lays checked arguments out; `tmsys` is the word that the deployment uses for the test-management system.
pub fn layout(operation: &OperationEntry, arguments: &Fields, tmsys: &str) -> Result<Layout, Vec<Violation>> {
    let mut violations = Vec::new();
    let mut path = String::new();

    for segment in operation.request.path.split('/').skip(1) {
        path.push('/');
        match placeholder(segment) {
            Some(_) if segment == TMSYS => path.push_str(&encoded(tmsys)),
            Some(Placeholder { name, is_several_segments }) => {
                match path_value(arguments, name, is_several_segments) {
                    Ok(text) => path.push_str(&text),
                    Err(rule) => violations.push(Violation::new(name, rule)),
                }
            }
            None => path.push_str(segment),
        }
    }

    let in_path: Vec<_> = operation.request.path_fields().collect();
    let travels = |name: &str| !in_path.contains(&name) && !operation.request.own_arguments.contains(&name);
    let rest = arguments.iter().filter(|(name, _)| travels(name));
    let (in_body, in_query): (Vec<_>, Vec<_>) =
        rest.partition(|(name, _)| operation.request.is_in_body(name));
    let query = query(in_query.into_iter());
    let body = (operation.request.has_body() || !in_body.is_empty()).then(|| body(operation, in_body, tmsys));

    if path.len() + query.len() > LONGEST_TARGET {
        let longest =
            arguments.iter().max_by_key(|(_, value)| text_of(value).len()).map_or("", |(name, _)| name);
        violations.push(Violation::new(
            shorten_name(longest),
            format!("the request's address would exceed {LONGEST_TARGET} bytes"),
        ));
    }

    let place = operation.request.url_base;
    let part = (operation.request.response_kind == ResponseKind::File).then(|| part(arguments));

    if violations.is_empty() { Ok(Layout { place, path, query, body, part }) } else { Err(violations) }
}

/// The encoded value of a path field, which may be `several` segments, or why it cannot be one.
fn path_value(arguments: &Fields, name: &str, several: bool) -> Result<String, String> {
    // An absent id breaks the schema, which the caller has checked.
    let Some(text) = arguments.get(name).and_then(Value::as_str) else { return Ok(String::new()) };
    if !several {
        return check_segment(text).map(|()| encoded(text));
    }

    let segments: Vec<_> = text.split('/').collect();
    match segments.iter().try_for_each(|segment| check_segment(segment)) {
        Ok(()) => Ok(segments.into_iter().map(encoded).collect::<Vec<_>>().join("/")),
        Err(rule) if segments.len() == 1 => Err(rule),
        Err(_) => {
            Err("must be a relative name: no segment between `/` may be empty, `.`, `..` or very long"
                .to_owned())
        }
    }
}

/// Whether `text` can be an id in a path; the broken rule if not. `.` and `..` would change the path even when encoded.
pub fn check_segment(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("must not be empty".to_owned())
    } else if text == "." || text == ".." {
        Err(format!("`{text}` cannot be an id"))
    } else if text.len() > LONGEST_SEGMENT {
        Err(format!("must have at most {LONGEST_SEGMENT} bytes, got {}", text.len()))
    } else {
        Ok(())
    }
}

/// The part of a file that the arguments ask for, and what may belong to its last character.
fn part(arguments: &Fields) -> Part {
    const REST_OF_CHARACTER: u64 = 3;
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
    let length = number("length").unwrap_or(DEFAULT_PART);
    Part { offset: number("offset").unwrap_or_default(), length: length + REST_OF_CHARACTER }
}

fn body(operation: &OperationEntry, fields: Vec<(&String, &Value)>, tmsys: &str) -> Vec<u8> {
    let mut fields: Fields = fields.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    rename(operation, &mut fields, "tmsys", tmsys);
    let body = match operation.request.wrapper {
        Some(wrapper) => Fields::from_iter([(wrapper.to_owned(), Value::Object(fields))]),
        None => fields,
    };

    Value::Object(body).to_string().into_bytes()
}

/// Renames the case links in objects that pass through as they are: deployments call them as they call the system.
pub fn rename(operation: &OperationEntry, fields: &mut Fields, from: &str, to: &str) {
    if from == to {
        return;
    }

    let properties = operation.input_schema().get("properties");
    let passes =
        |name: &str| properties.is_some_and(|all| all.get(name).is_some_and(|one| one.get(KNOWN).is_some()));

    for (_, value) in fields.iter_mut().filter(|(name, _)| passes(name)) {
        if let Value::Object(object) = value
            && let Some(links) = object.shift_remove(from)
        {
            object.insert(to.to_owned(), links);
        }
    }
}

fn query<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let mut query = String::new();
    for (name, value) in fields {
        if !query.is_empty() {
            query.push('&');
        }
        query.push_str(&encoded(name));
        query.push('=');
        query.push_str(&encoded(&text_of(value)));
    }

    query
}

/// A value as a query writes it; lists are comma-separated.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
