//! Pictures of an answer. Hosts receive them as images beside the JSON, which contains the number of each image.

use std::panic::{AssertUnwindSafe, catch_unwind};

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::bytes::Bytes;

use crate::{
    fields::Fields,
    picture::{self, Picture},
    service::operation::Pictures,
};

/// Largest number of pictures in one reply. A run has few players, and a picture costs a model as much as a long text.
const MAX_PICTURES: usize = 16;

/// Standard Base64, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why the data of a picture cannot be decoded.
const NO_BASE64: &str = "its data is not Base64";

/// Takes the pictures out of an answer. Each leaves its other fields there, and its description.
pub(super) fn take(answer: &mut Fields, place: Pictures, deadline: Instant) -> Vec<Picture> {
    let mut pictures = Vec::new();
    let records = answer.get_mut(place.list).and_then(Value::as_array_mut).into_iter().flatten();

    for field in records.filter_map(|record| record.get_mut(place.field)) {
        let Some(mut picture) = encoded(field) else { continue };
        let mut take_text = |name: &str| match picture.shift_remove(name) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let [data, _, encoding] = ["data", "mimeType", "encoding"].map(&mut take_text);

        let mut description = add(&mut pictures, || decode(&data, &encoding), deadline);
        for (name, value) in picture {
            description.entry(name).or_insert(value);
        }
        *field = Value::Object(description);
    }

    pictures
}

/// Takes the object of a picture out of its field. A text in place of the object can only be the data.
fn encoded(field: &mut Value) -> Option<Fields> {
    match field.take() {
        Value::Object(picture) if picture.get("data").is_some_and(Value::is_string) => Some(picture),
        Value::String(data) => Some(Fields::from_iter([("data".to_owned(), data.into())])),
        other => {
            *field = other;
            None
        }
    }
}

fn decode(data: &str, encoding: &str) -> Result<Bytes, String> {
    if !encoding.is_empty() && !encoding.eq_ignore_ascii_case("base64") {
        return Err(NO_BASE64.to_owned());
    }
    // Some encoders insert line breaks.
    let text: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(text).map(Bytes::from).map_err(|_| NO_BASE64.to_owned())
}

/// Decodes a picture, and adds it to those of the reply. Returns the fields that describe it there: its number and size, or why
/// it is omitted. No picture is decoded after `deadline`.
pub(super) fn add(
    pictures: &mut Vec<Picture>,
    data: impl FnOnce() -> Result<Bytes, String>,
    deadline: Instant,
) -> Fields {
    let prepare = || {
        if pictures.len() >= MAX_PICTURES {
            return Err(format!("only the first {MAX_PICTURES} pictures are shown"));
        }
        if Instant::now() > deadline {
            return Err("the time limit of the call passed before it was decoded".to_owned());
        }

        let data = data()?;
        // A decoder that panics must not end the call.
        let prepared = catch_unwind(AssertUnwindSafe(|| picture::prepare(data)));
        prepared.map_err(|_| "it could not be decoded".to_owned())?.map_err(|reason| reason.to_string())
    };

    match prepare() {
        Ok(picture) => {
            let description = describe(pictures.len() + 1, &picture);
            pictures.push(picture);
            description
        }
        Err(reason) => Fields::from_iter([("omitted".to_owned(), reason.into())]),
    }
}

fn describe(number: usize, picture: &Picture) -> Fields {
    let Picture { mime_type, width, height, original, .. } = picture;
    let mut fields = Fields::from_iter([
        ("image".to_owned(), json!(number)),
        ("mimeType".to_owned(), json!(mime_type)),
        ("width".to_owned(), json!(width)),
        ("height".to_owned(), json!(height)),
    ]);

    if let Some((width, height)) = original {
        fields.insert("original_width".to_owned(), json!(width));
        fields.insert("original_height".to_owned(), json!(height));
    }

    fields
}
