//! A part of a file as a result: text as it is, in parts; pictures as such; of anything else what there is to know.

use serde_json::{Value, json};

mod kind;
mod text;

use self::{
    kind::Kind,
    text::{Text, escaped_length, fitting},
};
use super::pictures::Taken;
use crate::{
    client::{HttpResponse, MAX_RESPONSE_BYTES},
    failure::{Code, Failure, quote},
    fields::Fields,
    picture,
    service::api::artifacts::DEFAULT_PART,
};

/// Room that a reply keeps for what it says beside the text, in characters.
const RESERVE: usize = 1_300;

/// Longest header that is shown, in characters.
const LONGEST_HEADER: usize = 200;

/// What to do with a file that is not shown.
const SAVE: &str =
    "not shown here: save it with `download_run_files`, or with `tas-mcp download run` at a terminal";

/// The fields of [`crate::service::api::artifacts::ArtifactPart`] in a reply of at most `most` characters.
pub(super) fn result(
    answer: &HttpResponse,
    arguments: &Fields,
    most: usize,
) -> Result<(Value, Option<Taken>), Failure> {
    let asked = Asked::of(arguments);
    if let Some(failure) = unusable(answer, &asked) {
        return Err(failure);
    }

    match kind(answer, &asked) {
        Kind::PerhapsText if !is_long(answer) => {
            let text = Text::of(&answer.body, asked.offset > 0);
            let value =
                text.map_or_else(|| described(answer, &asked), |text| part(answer, &asked, &text, most));
            Ok((value, None))
        }
        Kind::Picture if is_whole(answer, &asked) => Ok(pictured(answer, &asked)),
        Kind::Picture | Kind::PerhapsText | Kind::Other => Ok((described(answer, &asked), None)),
    }
}

/// Arguments that ask for the whole of a picture of which `answer` is a part; `None`: nothing more is needed.
pub(super) fn whole(answer: &HttpResponse, arguments: &Fields) -> Option<Fields> {
    let asked = Asked::of(arguments);
    let is_wanted = matches!(answer.status, 200 | 206) && kind(answer, &asked) == Kind::Picture;
    if !is_wanted || is_long(answer) || is_whole(answer, &asked) {
        return None;
    }

    let mut arguments = arguments.clone();
    arguments.insert("offset".to_owned(), json!(0));
    arguments.insert("length".to_owned(), json!(MAX_RESPONSE_BYTES));

    Some(arguments)
}

/// What a file is: where its beginning is seen, that decides whether it is a picture.
fn kind(answer: &HttpResponse, asked: &Asked<'_>) -> Kind {
    let stated = Kind::of(answer.file.content_type.as_deref());
    match stated {
        Kind::PerhapsText | Kind::Picture if asked.offset == 0 => match picture::is_supported(&answer.body) {
            true => Kind::Picture,
            false if stated == Kind::Picture => Kind::Other,
            false => stated,
        },
        stated => stated,
    }
}

fn is_long(answer: &HttpResponse) -> bool {
    answer.file.total.is_some_and(|total| total > MAX_RESPONSE_BYTES as u64)
}

/// Whether an answer holds the whole file.
fn is_whole(answer: &HttpResponse, asked: &Asked<'_>) -> bool {
    let is_there = |total| total == answer.body.len() as u64;
    // Without a stated length it ends before the most that is read.
    let ends = asked.length >= MAX_RESPONSE_BYTES && answer.body.len() < MAX_RESPONSE_BYTES;
    asked.offset == 0 && answer.file.total.map_or(ends, is_there)
}

/// A picture, and where the answer has to speak of it.
fn pictured(answer: &HttpResponse, asked: &Asked<'_>) -> (Value, Option<Taken>) {
    let mut value = described(answer, asked);
    if let Value::Object(object) = &mut value {
        object.shift_remove("hint");
        object.insert("picture".to_owned(), json!({}));
    }

    let stated = answer.file.content_type.as_deref().unwrap_or_default();

    (value, Some(Taken::file("/picture", answer.body.clone(), stated, SAVE)))
}

/// Which part was asked for.
struct Asked<'a> {
    filename: &'a str,
    offset: u64,
    length: usize,
}

impl<'a> Asked<'a> {
    fn of(arguments: &'a Fields) -> Self {
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
        let length = number("length").unwrap_or(DEFAULT_PART);
        Self {
            filename: arguments.get("filename").and_then(Value::as_str).unwrap_or_default(),
            offset: number("offset").unwrap_or_default(),
            length: usize::try_from(length).unwrap_or(usize::MAX),
        }
    }
}

/// Why a status of success is none, if so.
fn unusable(answer: &HttpResponse, asked: &Asked<'_>) -> Option<Failure> {
    let bad = |why: String| {
        let message = format!("get_run_artifact: `{}`: {why}", asked.filename);
        Failure::new(Code::BadResponse, message).status(answer.status)
    };
    if answer.file.offset != asked.offset {
        let (got, wanted) = (answer.file.offset, asked.offset);
        return Some(bad(format!("the service answered with bytes from {got}, asked for {wanted}")));
    }

    let is_beyond = answer.body.is_empty() && asked.offset > 0;

    is_beyond.then(|| beyond(answer, asked))
}

fn beyond(answer: &HttpResponse, asked: &Asked<'_>) -> Failure {
    let size = answer.file.total.map_or("fewer".to_owned(), |total| total.to_string());
    let (filename, offset) = (asked.filename, asked.offset);
    let message = format!("get_run_artifact: `{filename}` has {size} bytes, and none at `offset` {offset}");
    let failure = Failure::new(Code::Rejected, message)
        .hint("a smaller `offset`; 0 is the beginning")
        .status(answer.status);

    match answer.file.total {
        Some(total) => failure.detail("total_bytes", total),
        None => failure,
    }
}

/// A part of a text, in a reply of at most `most` characters.
fn part(answer: &HttpResponse, asked: &Asked<'_>, text: &Text<'_>, most: usize) -> Value {
    let room = most.saturating_sub(RESERVE + escaped_length(asked.filename));
    let length = fitting(text.text, asked.length, room);
    let shown = text.text.get(..length).unwrap_or_default();
    let offset = asked.offset + text.before as u64;
    let end = offset + length as u64;
    // A file without a byte has no part that could be asked for.
    let total = if answer.status == 416 { Some(0) } else { answer.file.total };
    // Half a character at the end of a file belongs to no part.
    let is_read_to_its_end = match total {
        Some(total) => asked.offset + answer.body.len() as u64 >= total,
        None => answer.body.len() <= asked.length,
    };
    let is_last = is_read_to_its_end && length == text.text.len();

    json!({
        "filename": asked.filename,
        "content_type": header(answer.file.content_type.as_deref()),
        "etag": header(answer.file.etag.as_deref()),
        "total_bytes": total,
        "offset": offset,
        "length": length,
        "next_offset": (!is_last).then_some(end),
        "text": shown,
    })
}

/// What there is to know of a file that is not shown.
fn described(answer: &HttpResponse, asked: &Asked<'_>) -> Value {
    json!({
        "filename": asked.filename,
        "content_type": header(answer.file.content_type.as_deref()),
        "etag": header(answer.file.etag.as_deref()),
        "size": answer.file.total,
        "hint": SAVE,
    })
}

fn header(text: Option<&str>) -> Option<String> {
    text.map(|text| text.chars().take(LONGEST_HEADER).collect())
}

/// Why a file did not come from where its host redirected to; `None` when the host itself refused it.
pub(super) fn refused(operation: &str, answer: &HttpResponse) -> Option<Failure> {
    let fail = |code, what: String| Failure::new(code, format!("{operation}: {what}")).status(answer.status);
    if let Some(why) = &answer.file.redirect_error {
        let failure = fail(Code::BadResponse, format!("the redirect to the file {why}"));
        return Some(failure.hint("call again later; if it stays so, the service has to be mended"));
    }

    if answer.status == 304 {
        return Some(fail(
            Code::BadResponse,
            "the service answered 304 though nothing is known here".to_owned(),
        ));
    }

    if !answer.file.was_redirected {
        return None;
    }

    let words = quote(String::from_utf8_lossy(&answer.body).trim());
    let (code, hint) = match answer.status {
        404 => (Code::NotFound, "the file is gone: see what there is with `list_run_artifacts`"),
        429 => (Code::RateLimited, "wait a minute before the next call"),
        500.. => (Code::ServiceUnavailable, "call again later"),
        _ => (Code::Rejected, "call again: each call gets a fresh address, which is valid for a while only"),
    };

    let what = format!("the storage host that the file lies on answered {}", answer.status);
    let failure = fail(code, what).hint(hint);

    Some(if words.is_empty() { failure } else { failure.detail("service_error", words) })
}
