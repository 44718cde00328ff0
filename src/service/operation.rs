//! One HTTP operation of the service, described once.

use reqwest::Method;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    fields::Fields,
    service::{lenient::View, tool::ToolInfo},
};

/// A single HTTP operation, exposed as a single tool.
///
/// The implementing struct is the arguments of the tool, the request that the client sends, and the request that the
/// sandbox answers. Its doc comment is the description of the tool. The doc comments of its fields are the
/// descriptions of the arguments.
///
/// Fields that are placeholders of [`RequestInfo::path`] travel in the path. The other fields of a `GET` or `DELETE`
/// travel in the query, those of other methods in a JSON body, and [`RequestInfo::exceptions`] the other way round.
pub trait Operation: DeserializeOwned + Serialize + JsonSchema + 'static {
    /// Properties of the tool.
    const TOOL: ToolInfo;
    /// Properties of the HTTP request.
    const REQUEST: RequestInfo;
    /// Name of the tool.
    const NAME: &'static str = Self::TOOL.name;

    /// The answer of the service, or the value that replaces an answer that is not JSON. Callers get the JSON as it
    /// came; this type is the view that logic reads.
    type Answer: View + Serialize + JsonSchema + 'static;
}

/// The properties of the HTTP request of an operation, and of its response.
///
/// A new property is one field here, its default in `RequestInfo::new`, and one builder method.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// HTTP method.
    pub method: Method,
    /// Path below [`Self::url_base`]. Every `{placeholder}` is a field of the operation, except [`TMSYS`] and
    /// [`PROJECT`]. The value of `{*placeholder}` may be several segments.
    pub path: &'static str,
    /// The address below which the path begins.
    pub url_base: UrlBase,
    /// Fields that travel in the query although the method has a body, or in a JSON body although it usually has none.
    pub exceptions: &'static [&'static str],
    /// Arguments of this program. They shape the request or the reply and are not sent.
    pub own_arguments: &'static [&'static str],
    /// Name of the operation that reads the record that this one changes, with the same id. The record is part of the
    /// refusal of a stale version.
    pub current_record: Option<&'static str>,
    /// Lists in a patch, at any depth. If one becomes shorter than in the current record, a user must agree.
    pub asks_if_shorter: &'static [&'static str],
    /// Whether the body contains the project too, as `project_id`.
    pub project_in_body: bool,
    /// Name of the object in the body that holds the fields. `None`: the body itself holds them.
    pub wrapper: Option<&'static str>,
    /// Whether the service refuses unknown fields in the body.
    pub denies_unknown_fields: bool,
    /// Content of a successful response.
    pub response_kind: ResponseKind,
    /// Place of the pictures in a JSON answer.
    pub pictures: Option<Pictures>,
    /// Name of the operation that lists the records of this one. The list is read if the service answers 404 or 405, because it
    /// does not have every operation in every deployment (service.md 5.2).
    pub fallback: Option<&'static str>,
    /// Returns whether a call that is not read-only may be sent twice with the same result.
    pub is_repeatable: fn(&Fields) -> bool,
}

impl RequestInfo {
    /// A request whose answer is JSON, below the address of the project.
    pub const fn new(method: Method, path: &'static str) -> Self {
        Self {
            method,
            path,
            url_base: UrlBase::Project,
            exceptions: &[],
            own_arguments: &[],
            current_record: None,
            asks_if_shorter: &[],
            project_in_body: false,
            wrapper: None,
            denies_unknown_fields: false,
            response_kind: ResponseKind::Json,
            pictures: None,
            fallback: None,
            // A call that writes is not repeated unless the operation states that a repetition is safe.
            is_repeatable: |_| false,
        }
    }

    setters! {
        below(url_base: UrlBase) sets url_base = url_base;
        in_query(fields: &'static [&'static str]) sets exceptions = fields;
        in_body(fields: &'static [&'static str]) sets exceptions = fields;
        own_arguments(arguments: &'static [&'static str]) sets own_arguments = arguments;
        current_record(operation: &'static str) sets current_record = Some(operation);
        asks_if_shorter(lists: &'static [&'static str]) sets asks_if_shorter = lists;
        with_project_in_body() sets project_in_body = true;
        wrapped_in(wrapper: &'static str) sets wrapper = Some(wrapper);
        denies_unknown_fields() sets denies_unknown_fields = true;
        responds_with(kind: ResponseKind) sets response_kind = kind;
        with_pictures(pictures: Pictures) sets pictures = Some(pictures);
        falls_back_to(list: &'static str) sets fallback = Some(list);
        repeatable_if(condition: fn(&Fields) -> bool) sets is_repeatable = condition;
    }

    /// Returns the names of the fields that travel in the path.
    pub fn path_fields(&self) -> impl Iterator<Item = &'static str> {
        let segments = self.path.split('/').filter(|segment| *segment != TMSYS);
        segments.filter_map(placeholder).map(|name| name.trim_start_matches('*'))
    }

    /// Returns whether a field that is not in the path travels in the JSON body.
    pub fn is_in_body(&self, field: &str) -> bool {
        self.has_body() != self.exceptions.contains(&field)
    }

    /// Returns whether every request has a JSON body.
    pub fn has_body(&self) -> bool {
        !matches!(self.method, Method::GET | Method::DELETE | Method::HEAD)
    }

    /// Returns whether the path or the body names the project as a field.
    pub fn names_project(&self) -> bool {
        self.project_in_body || self.path.contains(PROJECT)
    }
}

/// The address below which the path of an operation begins (service.md 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlBase {
    /// `{base_url}/project/{projectId}`, or `{base_url}` if the key decides the project.
    Project,
    /// `{base_url}/project/{projectId}` only. The request has no other place for the project.
    NamedProject,
    /// `{base_url}`, without a project.
    Base,
    /// `{knowledge_url}`, the host of knowledge files and run artifacts.
    Knowledge,
}

/// The content of a successful response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// A JSON object.
    Json,
    /// A JSON object or any other content. The status alone states the outcome.
    Status,
    /// A redirect that is not followed. Its `Location` is the result.
    Redirect,
    /// A file, of which one range is requested. The arguments `offset` and `length` select the range.
    File,
}

/// The place of pictures in a JSON answer.
///
/// Each picture is an object of `data`, `mimeType` and `encoding`. Callers receive pictures as images, not as text.
#[derive(Clone, Copy, Debug)]
pub struct Pictures {
    /// Field of the answer that holds the records.
    pub list: &'static str,
    /// Field of a record that holds a picture.
    pub field: &'static str,
}

/// Placeholder for the setting `TAS_TMSYS_NAME`.
pub const TMSYS: &str = "{tmsys}";

/// Placeholder for the project.
pub const PROJECT: &str = "{project_id}";

/// Returns what is in the braces of a placeholder; `None` if the segment is literal text.
pub fn placeholder(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}
