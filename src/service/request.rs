//! How the arguments of an operation become an HTTP request: path, query and body.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::{
    fields::Fields,
    service::{
        api::artifacts::DEFAULT_PART,
        catalog::OperationEntry,
        operation::{Placeholder, RequestInfo, ResponseKind, TMSYS, UrlBase, placeholder},
        schema::KNOWN,
        tool::PROJECT_ID,
    },
    text::shorten_name,
    violation::Violation,
};

/// Maximum length of path and query in bytes. Servers refuse longer targets with less clear errors.
const MAX_TARGET_BYTES: usize = 8_000;

/// Number of bytes after a range that the last UTF-8 character of the range may need.
const REST_OF_CHARACTER: u64 = 3;

/// The request of one call: an operation and its arguments, laid out for a project.
#[derive(Clone, Debug)]
pub struct Request {
    /// The operation.
    pub operation: &'static OperationEntry,
    /// Its arguments, without those that all tools have.
    pub arguments: Fields,
    /// The project that the request goes to; `None` is the route without a project.
    pub project: Option<String>,
    /// Percent-encoded path and query below the address of the host.
    pub target: String,
    /// JSON body, if there is one.
    pub body: Option<Vec<u8>>,
    /// Requested range of a file.
    pub range: Option<FileRange>,
}

/// A range of the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// Position of the first byte.
    pub offset: u64,
    /// Number of bytes, at least one.
    pub length: u64,
}

impl Request {
    /// Lays out the request of a call with checked arguments. `tmsys` is the deployment's name of the test-management
    /// system.
    ///
    /// # Errors
    /// A violation for each value that a path or a query cannot contain.
    pub fn new(
        operation: &'static OperationEntry,
        mut arguments: Fields,
        project: Option<&str>,
        tmsys: &str,
    ) -> Result<Self, Vec<Violation>> {
        let info = &operation.request;
        // Some requests carry the project in their own path or body.
        if let Some(project) = project.filter(|_| info.names_project()) {
            arguments.insert(PROJECT_ID.to_owned(), project.into());
        }

        let mut violations = Vec::new();
        let path = path(info.path, &arguments, tmsys, &mut violations);
        let (in_body, in_query) = sent_fields(info, &arguments);
        let query = query(in_query.into_iter());
        if path.len() + query.len() > MAX_TARGET_BYTES {
            let rule = format!("the address of the request would exceed {MAX_TARGET_BYTES} bytes");
            violations.push(Violation::new(shorten_name(longest_argument(&arguments)), rule));
        }
        if !violations.is_empty() {
            return Err(violations);
        }

        let body = (info.has_body() || !in_body.is_empty()).then(|| body(operation, in_body, tmsys));
        let range = (info.response_kind == ResponseKind::File).then(|| file_range(&arguments));
        let target = target(info.url_base, project, path, &query);

        Ok(Self { operation, arguments, project: project.map(str::to_owned), target, body, range })
    }

    /// Returns whether a response with this status means that the service has carried out the request.
    pub fn is_success(&self, status: u16) -> bool {
        match self.operation.request.response_kind {
            ResponseKind::Json | ResponseKind::Status => (200..300).contains(&status),
            ResponseKind::Redirect => (300..400).contains(&status),
            // 416 means that the file is shorter than the requested offset.
            ResponseKind::File => matches!(status, 200 | 206 | 416),
        }
    }
}

type NamedValues<'a> = Vec<(&'a String, &'a Value)>;

/// Returns the arguments that travel in the body, and those that travel in the query.
fn sent_fields<'a>(info: &RequestInfo, arguments: &'a Fields) -> (NamedValues<'a>, NamedValues<'a>) {
    let path_fields: Vec<_> = info.path_fields().collect();
    let is_sent = |name: &str| !path_fields.contains(&name) && !info.own_arguments.contains(&name);
    let sent = arguments.iter().filter(|(name, _)| is_sent(name));
    sent.partition(|(name, _)| info.is_in_body(name))
}

/// Returns path and query below the address of the host. The path of an operation of a project names `project`.
fn target(url_base: UrlBase, project: Option<&str>, path: String, query: &str) -> String {
    let is_below_project = matches!(url_base, UrlBase::Project | UrlBase::NamedProject);
    let path = match project.filter(|_| is_below_project) {
        Some(project) => format!("/project/{}{path}", encoded(project)),
        None => path,
    };

    if query.is_empty() { path } else { format!("{path}?{query}") }
}

/// Returns a violation for each value that a path cannot contain.
pub fn find_violations(operation: &OperationEntry, arguments: &Fields) -> Vec<Violation> {
    let mut violations = Vec::new();
    path(operation.request.path, arguments, "", &mut violations);
    violations
}

/// Returns the path with the values of its placeholders.
fn path(template: &str, arguments: &Fields, tmsys: &str, violations: &mut Vec<Violation>) -> String {
    let mut path = String::new();

    // The template begins with `/`, so that the first segment is empty.
    for segment in template.split('/').skip(1) {
        path.push('/');
        match placeholder(segment) {
            // The name of the test-management system is a setting, not an argument.
            Some(_) if segment == TMSYS => path.push_str(&encoded(tmsys)),
            Some(placeholder) => match path_value(arguments, placeholder) {
                Ok(text) => path.push_str(&text),
                Err(rule) => violations.push(Violation::new(placeholder.name, rule)),
            },
            None => path.push_str(segment),
        }
    }

    path
}

/// Returns the name of the argument with the longest value.
fn longest_argument(arguments: &Fields) -> &str {
    let longest = arguments.iter().max_by_key(|(_, value)| value_text(value).len());
    longest.map_or("", |(name, _)| name)
}

/// Returns the range that the arguments select, plus the bytes that complete its last character.
fn file_range(arguments: &Fields) -> FileRange {
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
    let length = number("length").unwrap_or(DEFAULT_PART);

    FileRange { offset: number("offset").unwrap_or_default(), length: length + REST_OF_CHARACTER }
}

/// Maximum length of one path segment in bytes. Ids are much shorter.
const MAX_SEGMENT_BYTES: usize = 300;

/// Returns the encoded value of a placeholder, or the rule that the value breaks.
fn path_value(arguments: &Fields, placeholder: Placeholder<'_>) -> Result<String, String> {
    // The schema check has already reported an absent id.
    let Some(text) = arguments.get(placeholder.name).and_then(Value::as_str) else {
        return Ok(String::new());
    };

    if !placeholder.is_several_segments {
        return check_segment(text).map(|()| encoded(text));
    }

    let segments: Vec<_> = text.split('/').collect();
    match segments.iter().try_for_each(|segment| check_segment(segment)) {
        Ok(()) => Ok(segments.into_iter().map(encoded).collect::<Vec<_>>().join("/")),
        // A single segment has a more precise rule than the whole name.
        Err(rule) if segments.len() == 1 => Err(rule),
        Err(_) => Err(format!(
            "must be a relative name: no segment between `/` may be empty, `.`, `..` or longer than \
             {MAX_SEGMENT_BYTES} bytes"
        )),
    }
}

/// Checks that `text` can be an id in a path.
///
/// # Errors
/// The rule that `text` breaks.
pub fn check_segment(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("must not be empty".to_owned())
    } else if text == "." || text == ".." {
        // Clients and servers resolve these segments even if they are percent-encoded.
        Err(format!("`{text}` cannot be an id"))
    } else if text.len() > MAX_SEGMENT_BYTES {
        Err(format!("must have at most {MAX_SEGMENT_BYTES} bytes, got {}", text.len()))
    } else {
        Ok(())
    }
}

/// Name of the case links in the arguments of tools.
const CASE_LINKS: &str = "tmsys";

/// Returns the body that contains `fields`. `tmsys` is the deployment's name of the test-management system.
fn body(operation: &OperationEntry, fields: Vec<(&String, &Value)>, tmsys: &str) -> Vec<u8> {
    let mut fields: Fields = fields.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    rename_case_links(operation, &mut fields, CASE_LINKS, tmsys);

    let body = match operation.request.wrapper {
        Some(wrapper) => Fields::from_iter([(wrapper.to_owned(), Value::Object(fields))]),
        None => fields,
    };

    Value::Object(body).to_string().into_bytes()
}

/// Renames the case links in objects that are sent unchanged, from `from` to `to`. Deployments name the field after
/// their test-management system.
pub fn rename_case_links(operation: &OperationEntry, fields: &mut Fields, from: &str, to: &str) {
    if from == to {
        return;
    }

    let properties = operation.input_schema().get("properties");
    let is_sent_unchanged = |name: &str| {
        let property = properties.and_then(|properties| properties.get(name));
        property.is_some_and(|property| property.get(KNOWN).is_some())
    };

    for (_, value) in fields.iter_mut().filter(|(name, _)| is_sent_unchanged(name)) {
        if let Value::Object(object) = value
            && let Some(links) = object.shift_remove(from)
        {
            object.insert(to.to_owned(), links);
        }
    }
}

/// Every character except the unreserved characters of RFC 3986, so that a value cannot change the path or the query.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes one path segment or query value.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Returns the query of the fields, without `?`.
fn query<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let pairs = fields.map(|(name, value)| format!("{}={}", encoded(name), encoded(&value_text(value))));
    pairs.collect::<Vec<_>>().join("&")
}

/// Returns a value as a query contains it.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // The service separates the items of lists by commas in every query (service.md 1.3).
        Value::Array(items) => items.iter().map(value_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
