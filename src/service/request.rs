//! How the arguments of an operation become an HTTP request: path, query and body.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::{
    failure::Violation,
    fields::Fields,
    service::{
        api::files::DEFAULT_PART,
        catalog::OperationEntry,
        operation::{RequestInfo, ResponseKind, TMSYS, UrlBase, placeholder},
        schema::{KNOWN, properties},
        tool::PROJECT_ID,
    },
    text::shorten_line,
};

/// Maximum length of path and query in bytes. Servers refuse longer targets with less clear errors.
const MAX_TARGET_BYTES: usize = 8_000;

/// Number of bytes after a range that the last UTF-8 character of the range may need.
const REST_OF_CHARACTER: u64 = 3;

/// Largest number of records and of ids that a subject names.
const MAX_NAMED: usize = 3;

/// Longest id or name in a subject, in characters.
const MAX_NAME_CHARACTERS: usize = 80;

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

        let path = path(info.path, &arguments, tmsys)?;
        let (in_body, in_query) = sent_fields(info, &arguments);
        let target = target(info.url_base, project, path, &in_query);
        if target.len() > MAX_TARGET_BYTES {
            let rule = format!("the address of the request would exceed {MAX_TARGET_BYTES} bytes");
            let longest = arguments.iter().max_by_key(|(_, value)| value_text(value).len());
            return Err(vec![Violation::new(longest.map_or("", |(name, _)| name), rule)]);
        }

        let body = (info.has_body() || !in_body.is_empty()).then(|| body(operation, in_body, tmsys));
        let range = (info.response_kind == ResponseKind::File).then(|| file_range(&arguments));

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

    /// Returns the operation and what the request is about, as the beginning of a message.
    pub fn label(&self) -> String {
        let name = self.operation.name;
        let subject = subject(self.operation, &self.arguments);
        if subject.is_empty() { name.to_owned() } else { format!("{name}: {subject}") }
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
fn target(url_base: UrlBase, project: Option<&str>, path: String, in_query: &NamedValues<'_>) -> String {
    let is_below_project = matches!(url_base, UrlBase::Project | UrlBase::NamedProject);
    let mut target = match project.filter(|_| is_below_project) {
        Some(project) => format!("/project/{}{path}", encoded(project)),
        None => path,
    };

    for (index, (name, value)) in in_query.iter().enumerate() {
        target.push(if index == 0 { '?' } else { '&' });
        target.extend([&encoded(name), "=", &encoded(&value_text(value))]);
    }

    target
}

/// Returns a violation for each value that a path cannot contain.
pub fn find_violations(operation: &OperationEntry, arguments: &Fields) -> Vec<Violation> {
    path(operation.request.path, arguments, "").err().unwrap_or_default()
}

fn path(template: &str, arguments: &Fields, tmsys: &str) -> Result<String, Vec<Violation>> {
    let (mut path, mut violations) = (String::new(), Vec::new());
    // The template begins with `/`, so that the first segment is empty.
    for segment in template.split('/').skip(1) {
        path.push('/');
        match placeholder(segment) {
            None => path.push_str(segment),
            // The name of the test-management system is a setting, not an argument.
            Some(_) if segment == TMSYS => path.push_str(&encoded(tmsys)),
            Some(placeholder) => {
                let name = placeholder.trim_start_matches('*');
                // The schema check has already reported an absent id.
                let text = arguments.get(name).and_then(Value::as_str);
                match text.map_or(Ok(String::new()), if name == placeholder { id } else { file_name }) {
                    Ok(value) => path.push_str(&value),
                    Err(rule) => violations.push(Violation::new(name, rule)),
                }
            }
        }
    }

    if violations.is_empty() { Ok(path) } else { Err(violations) }
}

/// Returns the range that the arguments select, plus the bytes that complete its last character.
fn file_range(arguments: &Fields) -> FileRange {
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
    let length = number("length").unwrap_or(DEFAULT_PART);

    FileRange { offset: number("offset").unwrap_or_default(), length: length + REST_OF_CHARACTER }
}

/// Maximum length of one path segment in bytes. Ids are much shorter.
const MAX_SEGMENT_BYTES: usize = 300;

fn id(text: &str) -> Result<String, String> {
    check_id(text).map(|()| encoded(text))
}

/// A file may lie in directories, which are segments of their own.
fn file_name(text: &str) -> Result<String, String> {
    let segment = |segment| check_segment(segment).map(|()| encoded(segment));
    let segments: Result<Vec<_>, _> = text.split('/').map(segment).collect();
    match segments {
        Ok(segments) => Ok(segments.join("/")),
        // A single segment has a more precise rule than the whole name.
        Err(rule) if !text.contains('/') => Err(rule),
        Err(_) => Err(format!(
            "must be a relative name: no segment between `/` may be empty, `.`, `..` or longer than \
             {MAX_SEGMENT_BYTES} bytes"
        )),
    }
}

/// Checks that `text` can be an id in a path. A gateway that decodes `/`, `\` or `%` could leave the project of the path.
///
/// # Errors
/// The rule that `text` breaks.
pub fn check_id(text: &str) -> Result<(), String> {
    if text.contains(['/', '\\', '%']) {
        return Err("must be an id: none contains `/`, `\\` or `%`".to_owned());
    }
    check_segment(text)
}

/// Parses a project id, wherever it is named. Instructions and failures can quote it, because it has no room for a sentence.
///
/// # Errors
/// The end of a sentence that begins with the name of the setting or of the argument.
pub fn project_id(text: &str) -> Result<String, String> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_id = !text.starts_with(['.', '-']) && (1..=64).contains(&text.len()) && text.bytes().all(is_part);
    let rule = "is not a project id: at most 64 letters, digits, `.`, `_` and `-`";
    if is_id { Ok(text.to_owned()) } else { Err(rule.to_owned()) }
}

fn check_segment(text: &str) -> Result<(), String> {
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

    let known = |name: &str| properties(operation.input_schema())?.get(name)?.get(KNOWN);
    for (name, value) in fields {
        if known(name).is_some()
            && let Value::Object(object) = value
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

/// Returns a value as a query contains it.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // The service separates the items of lists by commas in every query (service.md 1.3).
        Value::Array(items) => items.iter().map(value_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Returns what a call is about, such as `run 7` or `"Login"`; an empty text if the arguments name nothing.
///
/// The records in the path come first. Without one, the subject is the name that the call gives, itself or in an object, or
/// else the records in the other arguments.
fn subject(operation: &OperationEntry, arguments: &Fields) -> String {
    let in_path = operation.request.path_fields().filter_map(|name| named(name, arguments.get(name)?));
    let in_path: Vec<_> = in_path.collect();
    if !in_path.is_empty() {
        return in_path.join(", ");
    }

    let name = arguments.get("name").or_else(|| arguments.values().find_map(|value| value.get("name")));
    if let Some(Value::String(name)) = name {
        return format!("\"{}\"", shorten_line(name, MAX_NAME_CHARACTERS));
    }

    let others = arguments.iter().filter_map(|(name, value)| named(name, value));
    others.take(MAX_NAMED).collect::<Vec<_>>().join(", ")
}

/// Returns the kind and the ids of the records that an argument names; `None` if it names none.
fn named(argument: &str, value: &Value) -> Option<String> {
    let ids = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let noun = match argument {
        "filename" => "file",
        _ => argument.trim_end_matches('s').strip_suffix("_id")?,
    };

    let noun = noun.trim_start_matches("multiplayer_").replace('_', " ");
    let plural = if ids.len() > 1 { "s" } else { "" };
    let texts = ids.iter().take(MAX_NAMED).filter_map(Value::as_str);
    let listed: Vec<_> = texts.map(|id| shorten_line(id, MAX_NAME_CHARACTERS)).collect();
    let more = ids.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };

    (!listed.is_empty()).then(|| format!("{noun}{plural} {}{more}", listed.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::service::catalog;

    #[test]
    fn a_subject_names_the_records_or_the_name_of_a_call() {
        for (operation, arguments, expected) in [
            ("get_run", json!({"run_id": "r1"}), "run r1"),
            ("get_run_artifact", json!({"run_id": "r1-0", "filename": "a/b.log"}), "run r1-0, file a/b.log"),
            ("create_test_folder", json!({"name": "Levels", "parent_folder_id": "f"}), "\"Levels\""),
            ("create_test", json!({"test": {"name": "Log\nin"}, "folder_id": "f"}), "\"Log in\""),
            ("stop_runs", json!({"job_ids": ["a", "b", "c", "d", "e"]}), "jobs a, b, c and 2 more"),
            ("list_runs", json!({"page": 1}), ""),
        ] {
            let operation = catalog::find(operation).expect("an operation");
            assert_eq!(subject(operation, arguments.as_object().expect("an object")), expected);
        }
    }
}
