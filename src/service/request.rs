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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::query;

    #[test]
    fn a_query_has_encoded_names_and_values() {
        let table = [
            (json!({}), ""),
            (json!({"page": 2, "bugs": true}), "page=2&bugs=true"),
            (json!({"tags": ["a", "b c"]}), "tags=a%2Cb%20c"),
            (json!({"search": "x&y=z"}), "search=x%26y%3Dz"),
        ];

        for (fields, expected) in table {
            assert_eq!(query(fields.as_object().unwrap().iter()), expected);
        }
    }
}
