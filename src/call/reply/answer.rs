//! The conversion of an answer into a reply.

use serde_json::Value;
use tokio::{sync::Semaphore, time::Instant};

use super::{
    answer_fields::{ReplyLimits, missing_field, rename_tmsys_fields},
    file, file_link,
    file_link::FileLink,
    length_limit::{self, ReplySource},
    next_page::{NEXT, next_page},
    pictures::{self, ExtractedPicture},
    redirect,
    selection::FieldSelection,
};
use crate::{
    call::operation_request::OperationRequest,
    client::{ApiKey, HttpResponse, ServiceHost, parse_json},
    failure::{Code, Failure, quote},
    fields::Fields,
    picture::Picture,
    service::{
        catalog::OperationEntry,
        operation::{Operation, ResponseKind},
        view::view,
    },
    text::{remove_hidden, visible},
};

/// Returns whether an answer is the success that the operation specifies.
pub fn is_success(entry: &OperationEntry, answer: &HttpResponse) -> bool {
    match entry.request.response_kind {
        ResponseKind::Json | ResponseKind::Status => answer.is_success(),
        ResponseKind::Redirect => (300..400).contains(&answer.status),
        // 416 means that the file is shorter than the requested offset.
        ResponseKind::File => matches!(answer.status, 200 | 206 | 416),
    }
}

/// Longest answer that is converted and cut on the thread that serves the calls, in bytes.
const MAX_INLINE_BYTES: usize = 64 * 1024;

/// The permit for work on a long answer. The values of an answer take several times the memory of its text, so that the
/// process works on one long answer at a time.
static LONG_WORK: Semaphore = Semaphore::const_new(1);

/// Runs `work` on an answer of `length` bytes. Work on a long answer runs on another thread, because this one serves the
/// other calls.
pub(in crate::call) async fn off_thread<T: Send + 'static>(
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if length <= MAX_INLINE_BYTES {
        return work();
    }

    // Boxed, because most answers are short, and the future of every call would contain this one.
    Box::pin(do_long_work(work)).await
}

/// Runs `work` on another thread, after all other long work.
async fn do_long_work<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let permit = LONG_WORK.acquire().await;
    // The permit stays with the thread, which continues after the caller has gone.
    let thread = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });

    thread.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// Parses the body of an answer. A long body is parsed on another thread.
///
/// # Errors
/// Why the body is not JSON that can be read, as a clause of an error message.
pub(in crate::call) async fn parse_body(answer: &HttpResponse) -> Result<Value, String> {
    let body = answer.body.clone();
    off_thread(body.len(), move || parse_json(&body)).await
}

/// The JSON object of the service with the field names of the specification, and its pictures beside it.
#[derive(Clone, Debug)]
pub struct Reply {
    value: Value,
    pictures: Vec<Picture>,
    links: Vec<FileLink>,
    /// Pictures that are not decoded yet.
    extracted: Vec<ExtractedPicture>,
    project: Option<String>,
    /// Length of the answer that the reply was made of, in bytes; 0 for other replies.
    answer_length: usize,
}

impl Reply {
    /// Converts an answer. Its pictures are extracted; `with_decoded_pictures` decodes them.
    ///
    /// # Errors
    /// `bad_response` if the answer is not what the operation specifies.
    pub fn new(
        request: &OperationRequest,
        answer: &HttpResponse,
        key: &ApiKey,
        limits: &ReplyLimits<'_>,
    ) -> Result<Self, Failure> {
        let entry = request.entry;
        let bad_response = |reason: &str| bad_response(request, answer, key, reason);

        let mut extracted = Vec::new();
        let mut value = match entry.request.response_kind {
            ResponseKind::Json => parse_json(&answer.body).map_err(|reason| bad_response(&reason))?,
            ResponseKind::Status => object_or_empty(answer),
            ResponseKind::Redirect => redirect::result(answer, limits.address_policy)
                .ok_or_else(|| bad_response("names no https address in `Location`"))?,
            ResponseKind::File => {
                let (value, picture) = file::result(answer, &request.arguments, limits.max_reply_chars)?;
                extracted.extend(picture);
                value
            }
        };

        if let Some((answer, pictures)) = value.as_object_mut().zip(entry.request.pictures) {
            extracted.extend(pictures::extract(answer, pictures));
        }
        remove_hidden(&mut value);

        let Value::Object(object) = &mut value else { return Err(bad_response("is not a JSON object")) };
        // The service may repeat the key in any text of its answer.
        key.mask_fields(object);
        rename_tmsys_fields(object, limits.tmsys_name);

        if let Some(missing) = missing_field(entry, object) {
            return Err(bad_response(&missing));
        }

        let link =
            file_link::link(entry.request.response_kind, answer, &request.arguments, limits.address_policy);
        let (links, answer_length) = (link.into_iter().collect(), answer.body.len());
        Ok(Self { value, pictures: Vec::new(), links, extracted, project: None, answer_length })
    }

    /// Decodes the pictures that can be delivered by `deadline`.
    #[must_use]
    pub(crate) async fn with_decoded_pictures(mut self, deadline: Instant) -> Self {
        let extracted = std::mem::take(&mut self.extracted);
        if !extracted.is_empty() {
            self.pictures = pictures::decode_all(&mut self.value, extracted, deadline).await;
        }

        self
    }

    /// Creates a reply that is not an answer of the service.
    pub fn from_value(mut value: Value) -> Self {
        // Texts of storage hosts and of failures have not been read as answers.
        remove_hidden(&mut value);
        Self {
            value,
            pictures: Vec::new(),
            links: Vec::new(),
            extracted: Vec::new(),
            project: None,
            answer_length: 0,
        }
    }

    /// Sets the project that the call went to.
    #[must_use]
    pub(crate) fn with_project(self, project: Option<String>) -> Self {
        Self { project, ..self }
    }

    /// Returns the project that the request named, if it named one.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Removes all fields that the caller did not select.
    pub fn select(&mut self, selection: FieldSelection) {
        selection.apply(&mut self.value);
    }

    /// Replaces the text at the JSON pointer `pointer`, if there is one.
    pub fn edit_text(&mut self, pointer: &str, edit: impl FnOnce(&str) -> String) {
        if let Some(Value::String(text)) = self.value.pointer_mut(pointer) {
            *text = edit(text);
        }
    }

    /// Adds how to request the next page, if there is one.
    pub(crate) fn add_next_page(&mut self) {
        if let Value::Object(page) = &mut self.value
            && let Some(next) = next_page(page)
        {
            page.insert(NEXT.to_owned(), next);
        }
    }

    /// Returns the reply and its compact JSON, cut to at most `max_chars` characters. The field `truncated` of a cut reply
    /// says what is missing and how to get it.
    pub async fn into_limited(self, max_chars: usize, source: ReplySource) -> (Value, String) {
        // Even to release the memory of what was cut takes long.
        off_thread(self.answer_length, move || limited(self.value, max_chars, source)).await
    }

    /// Returns the pictures, in the order in which the fields `image` number them from 1.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }

    /// Returns the links to files that the reply is about.
    pub fn links(&self) -> &[FileLink] {
        &self.links
    }

    /// Adds links to files that the reply is about.
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

/// Returns a value and its compact JSON, cut to at most `max_chars` characters.
fn limited(mut value: Value, max_chars: usize, source: ReplySource) -> (Value, String) {
    let text = value.to_string();
    let is_short = text.len() <= max_chars || text.chars().count() <= max_chars;

    match &mut value {
        Value::Object(object) if !is_short => {
            length_limit::cut(object, max_chars, source);
            let text = value.to_string();
            (value, text)
        }
        _ => (value, text),
    }
}

/// Returns the body if it is an object, otherwise an empty object: the status alone is the answer.
fn object_or_empty(answer: &HttpResponse) -> Value {
    let body = parse_json(&answer.body).ok().filter(Value::is_object);
    body.unwrap_or_else(|| Value::Object(Fields::new()))
}

/// The failure for an answer that is not what the operation specifies.
fn bad_response(request: &OperationRequest, answer: &HttpResponse, key: &ApiKey, reason: &str) -> Failure {
    let entry = request.entry;
    let message = format!("{}: the service's answer {reason}", request.to_http(None).label());
    let failure = Failure::new(Code::BadResponse, message).status(answer.status);
    let failure = match entry.failure_hints.recovery {
        Some(advice) => failure.uncertain(format!("the service accepted the request: {advice}")),
        None => failure.hint(format!(
            "{} may not be the address of the service",
            ServiceHost::for_url_base(entry.request.url_base).setting()
        )),
    };

    // The key is masked before the text is cut, which could leave a part of the key.
    let start = answer.body.get(..MAX_INLINE_BYTES).unwrap_or(&answer.body);
    let text = visible(&String::from_utf8_lossy(start)).into_owned();
    let text = quote(&key.mask_text(text));

    if text.is_empty() { failure } else { failure.detail("service_error", text) }
}
