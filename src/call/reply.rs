//! Replies to callers, made of the answers of the service.

use indexmap::IndexSet;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    RequestPreview, artifact,
    files::{self, PICTURE},
    ids::{find_malformed, owned_ids},
    limit::{self, NEXT},
    pictures,
    sender::MAX_INLINE_BYTES,
};
pub use super::{
    artifact::FileLink,
    limit::{RecordLimit, ReplySource, limit_failure},
    selection::{FieldSelection, INCOMPLETE},
};
use crate::{
    client::{AddressPolicy, ApiKey, HttpResponse, ServiceHost},
    failure::{Code, Failure, Violation, quote},
    fields::{Fields, text_at},
    picture::{self, Picture},
    service::{
        catalog::OperationEntry,
        lenient::view,
        operation::{Operation, ResponseKind},
        record_kind::ResultId,
        request::Request,
        schema::{self, RECORDS},
        tool::DRY_RUN,
    },
    text::{remove_hidden, visible},
};

/// Field of a reply that says what the service may not understand as the caller means it.
const WARNING: &str = "warning";

/// Maximum number of warnings in a reply. A call may have any number of unknown fields.
const MAX_WARNINGS: usize = 5;

/// Settings that affect replies.
#[derive(Clone, Debug)]
pub(super) struct ReplySettings {
    /// The name that the deployment uses for the test-management system.
    pub(super) tmsys_name: String,
    /// Longest reply, in characters.
    pub(super) max_reply_chars: usize,
    /// Which addresses that the service names may be passed on.
    pub(super) address_policy: AddressPolicy,
}

/// The JSON object of the service with `tmsys` in the names of its fields (service.md 1.4), and its pictures beside it.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    value: Value,
    pictures: Vec<Picture>,
    links: Vec<FileLink>,
    project: Option<String>,
    /// How its records are limited, if not by pages.
    record_limit: Option<RecordLimit>,
}

impl Reply {
    /// Converts an answer of the service, and selects its fields. Returns the reply, and all ids in the answer, which the
    /// selection may have left out. Pictures are decoded until `deadline`.
    ///
    /// # Errors
    /// `bad_response` if the answer is not what the operation specifies.
    pub(super) fn new(
        request: &Request,
        response: &HttpResponse,
        key: &ApiKey,
        settings: &ReplySettings,
        selection: Option<&FieldSelection>,
        deadline: Instant,
    ) -> Result<(Self, IndexSet<ResultId>), Failure> {
        let (kind, policy) = (request.operation.request.response_kind, settings.address_policy);
        let bad_response = |reason: &str| bad_response(request, response, key, reason);

        let is_selected = |path: &[&str]| selection.is_none_or(|selection| selection.includes(path));
        let (mut value, mut pictures) = read_value(request, response, key, settings, deadline)?;
        if !is_selected(&[PICTURE]) {
            pictures.clear();
        }
        if let Some((answer, place)) = value.as_object_mut().zip(request.operation.request.pictures)
            && is_selected(&[place.list, place.field])
        {
            pictures = pictures::take(answer, place, deadline);
        }
        if let Some(name) = find_malformed(&value) {
            return Err(bad_response(&format!(
                "is unusable: an id in `{name}` has white space, control characters or `-` at its beginning"
            )));
        }
        let is_clean = |body| str::from_utf8(body).is_ok_and(|body| key.is_clean(body));
        if kind != ResponseKind::Json || !is_clean(&response.body) {
            key.clean(&mut value);
        }

        let Value::Object(object) = &mut value else { return Err(bad_response("is not a JSON object")) };
        rename_tmsys_fields(object, &settings.tmsys_name);
        if !is_empty_deletion(request, response)
            && let Some(missing) = missing_field(request.operation, object)
        {
            return Err(bad_response(&missing));
        }

        let links = artifact::link(kind, response, &request.arguments, policy).into_iter().collect();
        let ids = value.as_object().map(owned_ids).unwrap_or_default();
        let reply = Self { value, links, pictures, project: request.project.clone(), record_limit: None };
        let mut reply = reply.with_fields(selection);
        if request.operation.takes_pages() {
            reply.add_next_page();
        }

        Ok((reply, ids))
    }

    /// The reply to a call whose request is shown instead of sent.
    pub(super) fn of_dry_run(request: &Request) -> Self {
        let value = json!({DRY_RUN: true, "request": RequestPreview::new(request)});
        Self { project: request.project.clone(), ..Self::from_value(value) }
    }

    /// Returns whether the request of the call was shown instead of sent.
    pub fn is_dry_run(&self) -> bool {
        self.value.get(DRY_RUN) == Some(&Value::Bool(true)) || text_at(&self.value, "status") == Some(DRY_RUN)
    }

    /// Creates a reply that is not an answer of the service.
    pub fn from_value(mut value: Value) -> Self {
        // Texts of storage hosts and of failures have not been read as answers.
        remove_hidden(&mut value);
        Self { value, ..Self::default() }
    }

    /// Adds a text that says what the service may not understand as the caller means it.
    pub(super) fn with_warnings(mut self, warnings: &[Violation]) -> Self {
        let texts: Vec<_> = warnings.iter().take(MAX_WARNINGS).map(ToString::to_string).collect();
        if let Some(object) = self.value.as_object_mut().filter(|_| !texts.is_empty()) {
            object.insert(WARNING.to_owned(), texts.join("; ").into());
        }

        self
    }

    /// Returns the project that the request named, if it named one.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Returns the reply with the fields that the caller selects; `None` selects all.
    #[must_use]
    pub fn with_fields(mut self, selection: Option<&FieldSelection>) -> Self {
        if let Some(selection) = selection {
            selection.apply(&mut self.value);
        }
        self
    }

    /// Returns the records of a page.
    pub fn records_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.value.get_mut(RECORDS).and_then(Value::as_array_mut).into_iter().flatten()
    }

    /// Sets how the records are limited, and what is said before them.
    #[must_use]
    pub fn limited_by(self, limit: RecordLimit, statement: Fields) -> Self {
        Self { record_limit: Some(limit), ..self }.with_statement(statement)
    }

    /// Adds fields before all others.
    #[must_use]
    pub fn with_statement(mut self, statement: Fields) -> Self {
        if let Value::Object(fields) = &mut self.value {
            for (position, (name, value)) in statement.into_iter().enumerate() {
                fields.shift_insert(position, name, value);
            }
        }

        self
    }

    /// Replaces the text at the JSON pointer `pointer`, if there is one.
    pub fn edit_text(&mut self, pointer: &str, edit: impl FnOnce(&str) -> String) {
        if let Some(Value::String(text)) = self.value.pointer_mut(pointer) {
            *text = edit(text);
        }
    }

    /// Adds how to request the next page, if there is one.
    pub(crate) fn add_next_page(&mut self) {
        let number = |name| self.value.pointer(name).and_then(Value::as_u64);
        let Some(page) = number("/pagination/page").and_then(|page| page.checked_add(1)) else { return };

        if let Some(remaining) = number("/pagination/total_pages").and_then(|total| total.checked_sub(page))
            && remaining > 0
            && let Value::Object(fields) = &mut self.value
        {
            fields.insert(NEXT.to_owned(), json!({"page": page, "remaining_pages": remaining}));
        }
    }

    /// Returns the reply and its compact JSON, cut to at most `max_chars` characters. The field `truncated` of a cut
    /// reply says what is missing and how to get it.
    pub fn into_limited(self, max_chars: usize, source: ReplySource) -> (Value, String) {
        let mut value = self.value;
        let text = compact(&value);
        if text.len() <= max_chars || text.chars().count() <= max_chars {
            return (value, text);
        }

        limit::cut_reply(&mut value, max_chars, source, self.record_limit);
        let text = compact(&value);
        (value, text)
    }

    /// Returns the pictures, in the order in which the fields `image` number them from 1.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }

    /// Returns the links to files that the reply is about.
    pub fn links(&self) -> &[FileLink] {
        &self.links
    }

    pub(crate) fn add_links(&mut self, links: Vec<FileLink>) {
        self.links.extend(links);
    }

    /// Returns the JSON object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the view of the reply to the operation `O`.
    pub fn view<O: Operation>(&self) -> O::Answer {
        view(self.value())
    }

    /// Returns the JSON object without the pictures.
    pub fn into_value(self) -> Value {
        self.value
    }
}

/// Returns the compact JSON of a value. `Value::to_string` returns the same text, but takes several times as long.
fn compact(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| value.to_string())
}

/// Gives the fields of the test-management system of the deployment their neutral names (service.md 1.4).
fn rename_tmsys_fields(object: &mut Fields, tmsys_name: &str) {
    if tmsys_name == "tmsys" || !object.keys().any(|name| name.starts_with(tmsys_name)) {
        return;
    }

    let renamed = std::mem::take(object).into_iter().map(|(name, value)| {
        let rest = name.strip_prefix(tmsys_name).filter(|rest| rest.is_empty() || rest.starts_with('_'));
        (rest.map_or(name.clone(), |rest| format!("tmsys{rest}")), value)
    });
    *object = renamed.collect();
}

/// Returns why an object cannot be the answer of the operation: a required field is missing, or no field is known.
fn missing_field(entry: &OperationEntry, object: &Fields) -> Option<String> {
    if let Some(missing) = entry.required_fields.iter().find(|name| !object.contains_key(**name)) {
        return Some(format!("lacks `{missing}`"));
    }

    // The object has all required fields, which are fields of the operation. If the status alone is the answer, the
    // body may have any fields.
    if !entry.required_fields.is_empty() || entry.request.response_kind == ResponseKind::Status {
        return None;
    }

    let known = schema::properties(entry.output_schema())?;
    let has_known_field = object.keys().any(|name| known.contains_key(name));

    (!has_known_field).then(|| "has none of the fields of this operation".to_owned())
}

/// Returns whether [`Reply::new`] takes long: the answer is long, or may have pictures.
pub(super) fn takes_long(request: &Request, response: &HttpResponse) -> bool {
    let operation = &request.operation.request;
    let is_picture = operation.response_kind == ResponseKind::File && picture::is_supported(&response.body);
    response.body.len() > MAX_INLINE_BYTES || operation.pictures.is_some() || is_picture
}

/// Reads the value of an answer by the kind of the operation's response, and the picture that it is.
fn read_value(
    request: &Request,
    response: &HttpResponse,
    key: &ApiKey,
    settings: &ReplySettings,
    deadline: Instant,
) -> Result<(Value, Vec<Picture>), Failure> {
    let bad_response = |reason: &str| bad_response(request, response, key, reason);

    let value = match request.operation.request.response_kind {
        // The status says that the record is gone. Its ids are the answer.
        ResponseKind::Json if is_empty_deletion(request, response) => {
            Value::Object(request.arguments.clone())
        }
        ResponseKind::Json => {
            response.json().map_err(|error| bad_response(&format!("is not JSON ({error})")))?
        }
        // The status alone is the answer, if the body is no object.
        ResponseKind::Status => response.json().ok().filter(Value::is_object).unwrap_or_else(|| json!({})),
        ResponseKind::Redirect => artifact::redirect_reply(response, settings.address_policy)
            .ok_or_else(|| bad_response("names no https address in `Location`"))?,
        ResponseKind::File => {
            return files::part_reply(response, &request.arguments, settings.max_reply_chars, deadline);
        }
    };
    Ok((value, Vec::new()))
}

fn is_empty_deletion(request: &Request, response: &HttpResponse) -> bool {
    request.operation.request.method == Method::DELETE && matches!(response.body.trim_ascii(), b"" | b"null")
}

fn bad_response(request: &Request, answer: &HttpResponse, key: &ApiKey, reason: &str) -> Failure {
    let message = format!("{}: the service's answer {reason}", request.label());
    let failure = Failure::new(Code::BadResponse, message).status(answer.status);
    let failure = match request.operation.failure_hints.recovery {
        Some(advice) => failure.uncertain(format!("the service accepted the request: {advice}")),
        None if answer.location.is_some() => {
            failure.hint("the operator of the service can make it redirect to an https address")
        }
        None => failure
            .hint(format!("{} may not be the address of the service", ServiceHost::of(request).setting())),
    };

    // The key is masked before the text is cut, which could leave a part of the key.
    let start = answer.body.get(..MAX_INLINE_BYTES).unwrap_or(&answer.body);
    let text = visible(&String::from_utf8_lossy(start)).into_owned();
    let text = quote(&key.mask_text(text));

    if text.is_empty() { failure } else { failure.detail("service_error", text) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        client::{FileMetadata, refusal_failure},
        random_inputs::{bytes, check_values, object_with, value},
        service::catalog::OPERATIONS,
        text::has_hidden,
    };

    const KEY: &str = "svc_random_key";

    const MAX_CHARS: usize = 2_000;

    fn response(status: u16, body: Vec<u8>) -> HttpResponse {
        let (location, file) = (None, FileMetadata::default());
        let body = body.into();
        let retry_after = None;
        HttpResponse { status, body, location, retry_after, attempts: 1, file }
    }

    /// Returns the text of the reply, or of the failure, that an answer to `entry` becomes.
    fn reply_text(entry: &'static OperationEntry, response: &HttpResponse) -> String {
        let arguments = entry.request.path_fields().map(|name| (name.to_owned(), json!("x"))).collect();
        let request = Request::new(entry, arguments, None, "tmsys").expect("a request");
        let key = ApiKey::parse(KEY).expect("a key");
        let settings = ReplySettings {
            tmsys_name: "tmsys".to_owned(),
            max_reply_chars: MAX_CHARS,
            address_policy: AddressPolicy::default(),
        };
        if !request.is_success(response.status) {
            let failure = refusal_failure(&request, response, &key);
            return limit_failure(failure, MAX_CHARS).to_json();
        }

        let deadline = Instant::now() + Duration::from_secs(60);
        match Reply::new(&request, response, &key, &settings, None, deadline) {
            Ok((reply, _)) => reply.into_limited(MAX_CHARS, ReplySource::Call(entry)).1,
            Err(failure) => limit_failure(failure, MAX_CHARS).to_json(),
        }
    }

    #[test]
    fn no_answer_makes_a_reply_that_is_too_long_or_has_hidden_characters_or_the_key() {
        for entry in &OPERATIONS {
            let properties = schema::properties(entry.output_schema());
            let names: Vec<_> = properties.into_iter().flat_map(Fields::keys).cloned().collect();
            let required: Vec<_> = entry.required_fields.iter().map(|name| (*name).to_owned()).collect();
            let inputs = (object_with(names), value(), bytes(), 200..600_u16);

            check_values(&inputs, OPERATIONS.len(), |(mut object, value, bytes, status)| {
                for name in &required {
                    object.entry(name.clone()).or_insert_with(|| value.clone());
                }
                object.insert("echo".to_owned(), format!("a\u{202e}{KEY}").into());

                let body = Value::Object(object).to_string().into_bytes();
                let echo = |text| response(200, format!(r#"{{"echo":"{text}"}}"#).into_bytes());
                let texts = [response(200, body.clone()), response(status, body), response(200, bytes)];
                for response in texts.into_iter().chain([KEY, r"\u202e\u0007"].map(echo)) {
                    let text = reply_text(entry, &response);
                    let length = text.chars().count();
                    assert!(length <= MAX_CHARS, "{length} characters: {text}");
                    assert!(!has_hidden(&text) && !text.contains(KEY), "{text}");
                }
            });
        }
    }

    #[test]
    fn only_fields_that_begin_with_the_name_of_the_system_are_renamed() {
        let mut object: Fields =
            serde_json::from_value(json!({"qms": 1, "qms_id": 2, "qmsx": 3, "id": 4})).expect("an object");
        rename_tmsys_fields(&mut object, "qms");
        assert_eq!(Value::from(object), json!({"tmsys": 1, "tmsys_id": 2, "qmsx": 3, "id": 4}));
    }
}
