//! A successful answer as the caller gets it (`design.md` 3).

use serde_json::Value;
use tokio::time::Instant;

mod budget;
mod file;
mod paging;
mod pictures;
mod redirection;
mod selection;

pub use budget::ReplySource;
pub use selection::Selection;

use crate::{
    client::{ApiKey, HttpResponse, ServiceHost},
    failure::{Code, Failure, quote},
    fields::Fields,
    picture::Picture,
    service::{catalog::OperationEntry, operation::ResponseKind},
    text::remove_hidden,
};

use pictures::Taken;
pub use pictures::base64;

/// Whether an answer is one of success, in the form of the operation.
pub fn is_success(entry: &OperationEntry, answer: &HttpResponse) -> bool {
    match entry.request.response_kind {
        ResponseKind::Json | ResponseKind::Status => answer.is_success(),
        ResponseKind::Redirect => (300..400).contains(&answer.status),
        // 416: the file has no byte at that place.
        ResponseKind::File => matches!(answer.status, 200 | 206 | 416),
    }
}

/// What kept a file from coming, other than a refusal of the service.
pub fn obstacle(entry: &OperationEntry, answer: &HttpResponse) -> Option<Failure> {
    if entry.request.response_kind == ResponseKind::File { file::refused(entry.name, answer) } else { None }
}

/// Arguments of a second request, where `answer` is a part of a picture that has to be seen as a whole.
pub fn whole_instead(entry: &OperationEntry, arguments: &Fields, answer: &HttpResponse) -> Option<Fields> {
    if entry.request.response_kind == ResponseKind::File { file::whole(answer, arguments) } else { None }
}

/// What settings say of replies.
#[derive(Clone, Copy, Debug)]
pub struct ReplyLimits<'a> {
    /// The deployment's word for the test-management system.
    pub tmsys_name: &'a str,
    /// Longest reply, in characters.
    pub max_reply_chars: usize,
}

/// The service's JSON object, whole and in order, with the names of the specification; its pictures stand beside it.
#[derive(Clone, Debug)]
pub struct Reply {
    value: Value,
    pictures: Vec<Picture>,
    /// Pictures that nobody has looked at yet.
    taken: Vec<Taken>,
    project: Option<String>,
}

impl Reply {
    /// Takes the answer of `entry`; `bad_response` when it cannot be one. [`Self::with_decoded_pictures`] makes it
    /// whole.
    pub fn new(
        entry: &OperationEntry,
        arguments: &Fields,
        answer: &HttpResponse,
        key: &ApiKey,
        limits: &ReplyLimits<'_>,
    ) -> Result<Self, Failure> {
        let bad = |why: &str| bad(entry, answer, key, why);
        let mut taken = Vec::new();
        let mut value = match entry.request.response_kind {
            ResponseKind::Json => serde_json::from_slice(&answer.body)
                .map_err(|error| bad(&format!("is not JSON ({error})")))?,
            ResponseKind::Status => object_or_nothing(answer),
            ResponseKind::Redirect => {
                redirection::result(answer).ok_or_else(|| bad("names no https address in `Location`"))?
            }
            ResponseKind::File => {
                let (value, picture) = file::result(answer, arguments, limits.max_reply_chars)?;
                taken.extend(picture);
                value
            }
        };

        let pictures = value.as_object_mut().zip(entry.request.pictures);
        taken.extend(pictures.map(|(answer, pictures)| pictures::take(answer, pictures)).unwrap_or_default());
        remove_hidden(&mut value);

        let Value::Object(object) = &mut value else { return Err(bad("is not a JSON object")) };
        key.mask_fields(object);
        rename_tmsys(object, limits.tmsys_name);

        if let Some(complete) = entry.request.fill_defaults {
            complete(object, arguments);
        }

        if let Some(missing) = entry.required_fields.iter().find(|name| !object.contains_key(**name)) {
            return Err(bad(&format!("lacks `{missing}`")));
        }

        let known = entry.output_schema().get("properties").and_then(Value::as_object);
        let known = known.filter(|_| entry.request.response_kind != ResponseKind::Status);
        if known.is_some_and(|known| !object.keys().any(|name| known.contains_key(name))) {
            return Err(bad("has none of the fields of this operation"));
        }

        Ok(Self { value, pictures: Vec::new(), taken, project: None })
    }

    /// With the pictures of the answer, as far as they can be delivered by `deadline`.
    #[must_use]
    pub async fn with_decoded_pictures(mut self, deadline: Instant) -> Self {
        let taken = std::mem::take(&mut self.taken);
        self.pictures = pictures::deliver(&mut self.value, taken, deadline).await;
        self
    }

    /// An answer that was made here.
    pub fn from_value(value: Value) -> Self {
        Self { value, pictures: Vec::new(), taken: Vec::new(), project: None }
    }

    /// Says which project the call went to.
    #[must_use]
    pub fn with_project(self, project: Option<String>) -> Self {
        Self { project, ..self }
    }

    /// The project that the call went to, where the request named one.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Leaves only what the caller asked for.
    pub fn select(&mut self, selection: Selection) {
        selection.apply(&mut self.value);
    }

    /// Says how to get the next page, where there is one.
    pub fn point_to_next_page(&mut self) {
        if let Value::Object(object) = &mut self.value {
            paging::point_to_next(object);
        }
    }

    /// The answer and its compact JSON, cut to at most `most` characters; `truncated` says what is missing then, and
    /// how whoever asked gets it.
    pub fn into_limited(mut self, most: usize, asked: ReplySource<'_>) -> (Value, String) {
        let text = self.value.to_string();
        // A character has at least one byte.
        if text.len() <= most || text.chars().count() <= most {
            return (self.value, text);
        }

        if let Value::Object(object) = &mut self.value {
            budget::cut(object, most, asked);
        }

        let text = self.value.to_string();

        (self.value, text)
    }

    /// The pictures, in the order in which the answer numbers them from 1.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }

    /// The answer: an object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The answer alone.
    pub fn into_value(self) -> Value {
        self.value
    }

    /// The fields of the answer.
    pub fn fields(&self) -> Option<&Fields> {
        self.value.as_object()
    }
}

/// The body where it is an object; what else it may be says nothing.
fn object_or_nothing(answer: &HttpResponse) -> Value {
    let body = serde_json::from_slice(&answer.body).ok().filter(Value::is_object);
    body.unwrap_or_else(|| Value::Object(Fields::new()))
}

/// Gives the fields that are named after the test-management system the names of the specification.
fn rename_tmsys(object: &mut Fields, tmsys_name: &str) {
    if tmsys_name == "tmsys" || !object.keys().any(|name| name.starts_with(tmsys_name)) {
        return;
    }

    let renamed = std::mem::take(object).into_iter().map(|(name, value)| {
        let rest = name.strip_prefix(tmsys_name).filter(|rest| rest.is_empty() || rest.starts_with('_'));
        (rest.map_or(name.clone(), |rest| format!("tmsys{rest}")), value)
    });
    *object = renamed.collect();
}

fn bad(entry: &OperationEntry, answer: &HttpResponse, key: &ApiKey, why: &str) -> Failure {
    let text = key.mask_text(String::from_utf8_lossy(&answer.body).into_owned());
    let failure = Failure::new(Code::BadResponse, format!("{}: the service's answer {why}", entry.name))
        .status(answer.status);
    let failure = match entry.recovery_hint {
        Some(advice) => failure.uncertain(format!("the service took the request: {advice}")),
        None => failure.hint(format!(
            "{} may not be the address of the service",
            ServiceHost::for_url_base(entry.request.url_base).setting()
        )),
    };

    if text.is_empty() { failure } else { failure.detail("service_error", quote(&text)) }
}
