//! A part of a file as a reply: text in parts, pictures as pictures, and a description of everything else.

use serde_json::{Value, json};

mod content_kind;
mod failures;
mod requested_part;
mod text;

pub(in crate::call) use self::failures::file_failure;

use self::{
    content_kind::ContentKind,
    failures::unusable_answer,
    requested_part::RequestedPart,
    text::{TextPart, fitting_length},
};
use super::{json_length::text_length, pictures::ExtractedPicture};
use crate::{
    client::{HttpResponse, MAX_RESPONSE_BYTES},
    failure::Failure,
    fields::Fields,
    picture,
    service::{catalog::OperationEntry, operation::ResponseKind},
    text::first_characters,
};

/// Characters that are reserved for the fields beside the text.
const RESERVED_CHARS: usize = 1_300;

/// Longest header in a reply, in characters.
const MAX_HEADER_CHARS: usize = 200;

/// Hint for a file that the reply does not contain.
const SAVE_HINT: &str =
    "not shown here: save it with `download_run_files`, or with `tas-mcp download run` at a terminal";

/// Returns the fields of [`ArtifactPart`](crate::service::api::artifacts::ArtifactPart) for a reply of at most
/// `max_chars` characters, and the file itself if it is a picture.
///
/// # Errors
/// `bad_response` if the answer is another part than requested, `rejected` if the file is shorter.
pub(super) fn result(
    answer: &HttpResponse,
    arguments: &Fields,
    max_chars: usize,
) -> Result<(Value, Option<ExtractedPicture>), Failure> {
    let part = RequestedPart::from_arguments(arguments);
    if let Some(failure) = unusable_answer(answer, &part) {
        return Err(failure);
    }

    Ok(match content_kind(answer, &part) {
        ContentKind::PossibleText if !is_too_long(answer) => {
            let value = match TextPart::decode(&answer.body, part.offset > 0) {
                Some(text) => text_reply(answer, &part, &text, max_chars),
                None => description(answer, &part),
            };
            (value, None)
        }
        ContentKind::Picture if is_complete(answer, &part) => picture_reply(answer, &part),
        ContentKind::Picture | ContentKind::PossibleText | ContentKind::Other => {
            (description(answer, &part), None)
        }
    })
}

/// Returns the arguments of a second request if `answer` is a part of a picture, which can only be shown as a whole.
/// Returns `None` if no second request is needed.
pub(crate) fn full_picture_arguments(
    entry: &OperationEntry,
    arguments: &Fields,
    answer: &HttpResponse,
) -> Option<Fields> {
    let part = RequestedPart::from_arguments(arguments);
    let is_file = entry.request.response_kind == ResponseKind::File && matches!(answer.status, 200 | 206);
    if !is_file || content_kind(answer, &part) != ContentKind::Picture {
        return None;
    }

    if is_too_long(answer) || is_complete(answer, &part) {
        return None;
    }

    let mut arguments = arguments.clone();
    arguments.insert("offset".to_owned(), json!(0));
    arguments.insert("length".to_owned(), json!(MAX_RESPONSE_BYTES));

    Some(arguments)
}

/// Returns the kind of a file. If the answer contains its beginning, the bytes decide whether it is a picture.
fn content_kind(answer: &HttpResponse, part: &RequestedPart<'_>) -> ContentKind {
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

/// Returns whether an answer contains the whole file.
fn is_complete(answer: &HttpResponse, part: &RequestedPart<'_>) -> bool {
    // Without a stated size, the file is complete if it is shorter than the longest answer that is read.
    let is_whole = match answer.file.total {
        Some(total) => total == answer.body.len() as u64,
        None => part.length >= MAX_RESPONSE_BYTES && answer.body.len() < MAX_RESPONSE_BYTES,
    };
    part.offset == 0 && is_whole
}

/// Returns the reply for a picture, and the picture itself. The field `picture` describes it once it is decoded.
fn picture_reply(answer: &HttpResponse, part: &RequestedPart<'_>) -> (Value, Option<ExtractedPicture>) {
    let mut value = description(answer, part);
    if let Value::Object(object) = &mut value {
        object.shift_remove("hint");
        object.insert("picture".to_owned(), json!({}));
    }

    let content_type = answer.file.content_type.as_deref().unwrap_or_default();

    (value, Some(ExtractedPicture::from_file("/picture", answer.body.clone(), content_type, SAVE_HINT)))
}

/// Returns the reply for a part of a text, with at most `max_chars` characters.
fn text_reply(
    answer: &HttpResponse,
    part: &RequestedPart<'_>,
    text: &TextPart<'_>,
    max_chars: usize,
) -> Value {
    let max_text_chars = max_chars.saturating_sub(RESERVED_CHARS + text_length(part.filename));
    let length = fitting_length(text.text, part.length, max_text_chars);
    let shown = text.text.get(..length).unwrap_or_default();
    let offset = part.offset + text.skipped as u64;
    let end = offset + length as u64;

    // The storage host answers 416 for an empty file, because it has no part.
    let total = if answer.status == 416 { Some(0) } else { answer.file.total };
    // An incomplete character at the end of the file belongs to no part.
    let is_read_to_end = match total {
        Some(total) => part.offset + answer.body.len() as u64 >= total,
        None => answer.body.len() <= part.length,
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
fn description(answer: &HttpResponse, part: &RequestedPart<'_>) -> Value {
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
