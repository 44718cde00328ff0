//! A part of a file as a reply: text in parts, pictures as pictures, and a description of everything else.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    limit::{character_length, text_length},
    pictures,
    sender::RequestSender,
};
use crate::{
    client::{HttpResponse, MAX_RESPONSE_BYTES},
    failure::{Code, Failure, quote},
    fields::Fields,
    picture::{self, Picture},
    service::{
        api::files::DEFAULT_PART, catalog::OperationEntry, lenient::view, operation::ResponseKind,
        request::Request,
    },
    text::first_characters,
};

/// Characters that are reserved for the fields beside the text.
const RESERVED_CHARS: usize = 1_300;

/// Longest header in a reply, in characters.
const MAX_HEADER_CHARS: usize = 200;

/// Field that describes the picture that a file is.
pub(super) const PICTURE: &str = "picture";

/// Hint for a file that the reply does not contain.
const SAVE_HINT: &str = "not shown here: `tas-mcp download` saves it at a terminal";

/// Largest number of bytes of a UTF-8 character after its first byte.
const MAX_CONTINUATION_BYTES: usize = 3;

/// The part of a file that checked arguments of [`GetRunArtifact`](crate::service::api::files::GetRunArtifact)
/// name.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RequestedPart {
    pub(super) filename: String,
    offset: u64,
    length: Option<u64>,
}

impl RequestedPart {
    fn length(&self) -> usize {
        usize::try_from(self.length.unwrap_or(DEFAULT_PART)).unwrap_or(usize::MAX)
    }
}

/// Returns the fields of [`ArtifactPart`](crate::service::api::files::ArtifactPart) for a reply of at most
/// `max_chars` characters, and the file itself if it is a picture that can be decoded by `deadline`.
///
/// # Errors
/// `bad_response` if the answer is another part than requested, `rejected` if the file is shorter.
pub(super) fn part_reply(
    answer: &HttpResponse,
    arguments: &Fields,
    max_chars: usize,
    deadline: Instant,
) -> Result<(Value, Vec<Picture>), Failure> {
    let part = view::<RequestedPart>(arguments);
    if let Some(failure) = unusable_answer(answer, &part) {
        return Err(failure);
    }

    Ok(match content_kind(answer, &part) {
        ContentKind::PossibleText if !is_too_long(answer) => {
            let value = match TextPart::decode(&answer.body, part.offset > 0) {
                Some(text) => text_reply(answer, &part, &text, max_chars),
                None => description(answer, &part),
            };
            (value, Vec::new())
        }
        ContentKind::Picture if is_complete(answer, &part) => picture_reply(answer, &part, deadline),
        ContentKind::Picture | ContentKind::PossibleText | ContentKind::Other => {
            (description(answer, &part), Vec::new())
        }
    })
}

/// Requests the whole file if `response` has a part of a picture, which cannot be decoded.
pub(super) async fn with_whole_picture(
    sender: &RequestSender<'_>,
    mut request: Request,
    response: HttpResponse,
) -> Result<(Request, HttpResponse), Failure> {
    let part = view::<RequestedPart>(&request.arguments);
    let is_part_of_picture = request.range.is_some()
        && matches!(response.status, 200 | 206)
        && content_kind(&response, &part) == ContentKind::Picture
        && !is_too_long(&response)
        && !is_complete(&response, &part);
    if !is_part_of_picture {
        return Ok((request, response));
    }

    request.arguments.insert("offset".to_owned(), json!(0));
    request.arguments.insert("length".to_owned(), json!(MAX_RESPONSE_BYTES));
    let whole = sender.request(request.operation, request.arguments, request.project.as_deref())?;
    let response = sender.send_successfully(&whole).await?;

    Ok((whole, response))
}

/// Returns the kind of a file. If the answer contains its beginning, the bytes decide whether it is a picture.
fn content_kind(answer: &HttpResponse, part: &RequestedPart) -> ContentKind {
    let stated = ContentKind::from_content_type(answer.file.content_type.as_deref());
    if stated == ContentKind::Other || part.offset > 0 {
        return stated;
    }

    match stated {
        _ if picture::is_supported(&answer.body) => ContentKind::Picture,
        ContentKind::Picture => ContentKind::Other,
        stated => stated,
    }
}

fn is_too_long(answer: &HttpResponse) -> bool {
    answer.file.total.is_some_and(|total| total > MAX_RESPONSE_BYTES as u64)
}

fn is_complete(answer: &HttpResponse, part: &RequestedPart) -> bool {
    // Without a stated size, the file is complete if it is shorter than the longest answer that is read.
    let is_whole = match answer.file.total {
        Some(total) => total == answer.body.len() as u64,
        None => part.length() >= MAX_RESPONSE_BYTES && answer.body.len() < MAX_RESPONSE_BYTES,
    };
    part.offset == 0 && is_whole
}

/// Returns the reply for a picture, and the picture itself. The field `picture` describes it.
fn picture_reply(answer: &HttpResponse, part: &RequestedPart, deadline: Instant) -> (Value, Vec<Picture>) {
    let (mut value, mut pictures) = (description(answer, part), Vec::new());
    let picture = pictures::add(&mut pictures, || Ok(answer.body.clone()), deadline);
    if let Value::Object(object) = &mut value {
        if !pictures.is_empty() {
            object.shift_remove("hint");
        }
        object.insert(PICTURE.to_owned(), picture.into());
    }

    (value, pictures)
}

fn text_reply(answer: &HttpResponse, part: &RequestedPart, text: &TextPart<'_>, max_chars: usize) -> Value {
    let max_text_chars = max_chars.saturating_sub(RESERVED_CHARS + text_length(&part.filename));
    let length = fitting_length(text.text, part.length(), max_text_chars);
    let shown = text.text.get(..length).unwrap_or_default();
    let offset = part.offset + text.skipped as u64;
    let end = offset + length as u64;

    // The storage host answers 416 for an empty file, because it has no part.
    let total = if answer.status == 416 { Some(0) } else { answer.file.total };
    // An incomplete character at the end of the file belongs to no part.
    let is_read_to_end = match total {
        Some(total) => part.offset + answer.body.len() as u64 >= total,
        None => answer.body.len() <= part.length(),
    };
    let is_last = is_read_to_end && length == text.text.len();

    json!({
        "filename": part.filename,
        "content_type": header(answer.file.content_type.as_deref()),
        "etag": header(answer.file.etag.as_deref()),
        "total_bytes": total,
        "offset": offset,
        "length": length,
        "next_offset": (!is_last).then_some(end),
        "text": shown,
    })
}

/// Returns the reply for a file that is not shown.
fn description(answer: &HttpResponse, part: &RequestedPart) -> Value {
    json!({
        "filename": part.filename,
        "content_type": header(answer.file.content_type.as_deref()),
        "etag": header(answer.file.etag.as_deref()),
        "size": answer.file.total,
        "hint": SAVE_HINT,
    })
}

fn header(text: Option<&str>) -> Option<String> {
    text.map(|text| first_characters(text, MAX_HEADER_CHARS).to_owned())
}

/// The kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentKind {
    /// Text, or unknown: the bytes decide.
    PossibleText,
    Picture,
    Other,
}

impl ContentKind {
    fn from_content_type(content_type: Option<&str>) -> Self {
        let essence = content_type.and_then(|text| text.split(';').next()).unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        match essence.split_once('/') {
            Some(("audio" | "font" | "video", _) | ("application", "gzip" | "pdf" | "zip")) => Self::Other,
            // An SVG picture is text.
            Some(("image", kind)) if !kind.ends_with("+xml") => Self::Picture,
            _ => Self::PossibleText,
        }
    }
}

/// The text in some bytes of a file. Characters that begin before the bytes or end after them are left out.
struct TextPart<'a> {
    /// Bytes that were left out before the text.
    skipped: usize,
    text: &'a str,
}

impl<'a> TextPart<'a> {
    /// Decodes `bytes`. `is_inside` tells whether they come from inside a file, so that the first character may be
    /// incomplete. Returns `None` if they are not text.
    fn decode(bytes: &'a [u8], is_inside: bool) -> Option<Self> {
        let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let skipped = if is_inside {
            bytes.iter().take(MAX_CONTINUATION_BYTES).take_while(is_continuation).count()
        } else {
            0
        };
        let bytes = bytes.get(skipped..)?;

        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // No `error_len`: only the last character is incomplete.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
            }
            Err(_) => return None,
        };

        // Text contains no zero bytes; binary files often begin with valid UTF-8.
        (!text.contains('\0')).then_some(Self { skipped, text })
    }
}

/// Returns how many bytes of a text to show: whole characters, at least one, at most `max_bytes`, and at most
/// `max_chars` characters as JSON.
fn fitting_length(text: &str, max_bytes: usize, max_chars: usize) -> usize {
    let mut used = 0;
    for (position, character) in text.char_indices() {
        used += character_length(character);
        if position > 0 && (position + character.len_utf8() > max_bytes || used > max_chars) {
            return position;
        }
    }

    text.len()
}

fn unusable_answer(answer: &HttpResponse, part: &RequestedPart) -> Option<Failure> {
    if answer.file.offset != part.offset {
        let (actual, requested, filename) = (answer.file.offset, part.offset, &part.filename);
        let message = format!(
            "get_run_artifact: `{filename}`: the service returned the bytes from {actual}, but {requested} was requested"
        );
        return Some(Failure::new(Code::BadResponse, message).status(answer.status));
    }

    if part.offset == 0 || !answer.body.is_empty() {
        return None;
    }
    let size = answer.file.total.map_or("fewer".to_owned(), |total| total.to_string());
    let (filename, offset) = (&part.filename, part.offset);
    let message =
        format!("get_run_artifact: `{filename}` has {size} bytes, so that no byte is at `offset` {offset}");
    let failure = Failure::new(Code::Rejected, message)
        .hint("pass a smaller `offset`; 0 is the beginning")
        .status(answer.status);

    Some(match answer.file.total {
        Some(total) => failure.detail("total_bytes", total),
        None => failure,
    })
}

/// Returns why a file could not be read from the storage host to which the service redirected. Returns `None` if the
/// operation returns no file, or the service itself refused it.
pub(super) fn file_failure(entry: &OperationEntry, answer: &HttpResponse) -> Option<Failure> {
    if entry.request.response_kind != ResponseKind::File {
        return None;
    }

    let operation = entry.name;
    if let Some(reason) = &answer.file.redirect_error {
        let message = format!("{operation}: the redirect to the file {reason}");
        return Some(Failure::new(Code::BadResponse, message).status(answer.status));
    }

    answer.file.redirected_to.as_ref().map(|_| storage_failure(operation, answer))
}

fn storage_failure(operation: &str, answer: &HttpResponse) -> Failure {
    let (code, hint) = match answer.status {
        404 => (
            Code::NotFound,
            "the file does not exist any more[[: `tool:list_run_artifacts` lists the files]]",
        ),
        429 => (Code::RateLimited, "wait a minute before the next call"),
        500.. => (Code::ServiceUnavailable, "call again later"),
        _ => (
            Code::Rejected,
            "call again: each call requests a new address, which is valid for a limited time",
        ),
    };
    let message = format!("{operation}: the storage host of the file answered {}", answer.status);
    let failure = Failure::new(code, message).hint(hint).status(answer.status);
    let words = quote(String::from_utf8_lossy(&answer.body).trim());

    if words.is_empty() { failure } else { failure.detail("service_error", words) }
}
