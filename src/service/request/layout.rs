//! The layout of a request: path, query and body.

use serde_json::Value;

use crate::{
    fields::Fields,
    service::{
        api::artifacts::DEFAULT_PART,
        catalog::OperationEntry,
        operation::{ResponseKind, TMSYS, UrlBase, placeholder},
        request::{
            body::body,
            encoding::{encoded, query, value_text},
            path::path_value,
        },
    },
    text::shorten_name,
    violation::Violation,
};

/// Maximum length of path and query in bytes. Servers refuse longer targets with less clear errors.
const MAX_TARGET_BYTES: usize = 8_000;

/// Number of bytes after a range that the last UTF-8 character of the range may need.
const REST_OF_CHARACTER: u64 = 3;

/// The request of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The address below which the path begins.
    pub url_base: UrlBase,
    /// Percent-encoded path below the address.
    pub path: String,
    /// Percent-encoded query without `?`. Empty if there is none.
    pub query: String,
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

impl Layout {
    /// Returns path and query below the address of the host. If the operation belongs to a project, the path names
    /// `project`; with `None` it is the route without a project.
    pub fn target(&self, project: Option<&str>) -> String {
        let mut target = String::with_capacity(self.path.len() + self.query.len() + 32);
        let is_below_project = matches!(self.url_base, UrlBase::Project | UrlBase::NamedProject);

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

/// Lays out the request of a call with checked arguments. `tmsys` is the deployment's name of the test-management
/// system.
///
/// # Errors
/// A violation for each value that a path or a query cannot contain.
pub fn layout(operation: &OperationEntry, arguments: &Fields, tmsys: &str) -> Result<Layout, Vec<Violation>> {
    let request = &operation.request;
    let mut violations = Vec::new();
    let path = path(request.path, arguments, tmsys, &mut violations);

    let path_fields: Vec<_> = request.path_fields().collect();
    let is_sent = |name: &str| !path_fields.contains(&name) && !request.own_arguments.contains(&name);
    let sent = arguments.iter().filter(|(name, _)| is_sent(name));
    let (in_body, in_query): (Vec<_>, Vec<_>) = sent.partition(|(name, _)| request.is_in_body(name));

    let query = query(in_query.into_iter());
    let body = (request.has_body() || !in_body.is_empty()).then(|| body(operation, in_body, tmsys));
    let range = (request.response_kind == ResponseKind::File).then(|| file_range(arguments));

    if path.len() + query.len() > MAX_TARGET_BYTES {
        let rule = format!("the address of the request would exceed {MAX_TARGET_BYTES} bytes");
        violations.push(Violation::new(shorten_name(longest_argument(arguments)), rule));
    }

    if !violations.is_empty() {
        return Err(violations);
    }

    Ok(Layout { url_base: request.url_base, path, query, body, range })
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
