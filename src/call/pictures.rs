//! Pictures of an answer. Hosts receive them as images beside the JSON, which contains the number of each image.

use std::sync::Arc;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::sender::on_other_thread;
use crate::{
    client::KeyPlaces,
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

/// A picture that was removed from an answer and is not decoded yet.
#[derive(Clone, Debug)]
pub(super) struct ExtractedPicture {
    /// JSON pointer to the object that the picture was removed from.
    pointer: String,
    data: PictureData,
    mime_type: String,
    /// Field `hint` of the answer if the picture cannot be delivered.
    hint_if_omitted: Option<&'static str>,
}

/// The bytes of a picture.
#[derive(Clone, Debug)]
enum PictureData {
    Base64(Arc<str>),
    /// Text in an encoding other than Base64.
    UnknownEncoding,
    File(Bytes),
}

impl ExtractedPicture {
    /// Creates the picture of a complete file. The object at `pointer` describes the file in the answer.
    pub(super) fn from_file(
        pointer: &str,
        data: Bytes,
        mime_type: &str,
        hint_if_omitted: &'static str,
    ) -> Self {
        Self {
            pointer: pointer.to_owned(),
            data: PictureData::File(data),
            mime_type: mime_type.to_owned(),
            hint_if_omitted: Some(hint_if_omitted),
        }
    }
}

/// Removes the pictures from an answer. The other fields of each picture stay in the answer.
pub(super) fn extract(answer: &mut Fields, pictures: Pictures) -> Vec<ExtractedPicture> {
    let records = answer.get_mut(pictures.list).and_then(Value::as_array_mut).into_iter().flatten();
    let extracted = records.enumerate().filter_map(|(index, record)| {
        let field = record.get_mut(pictures.field)?;
        extract_one(field, format!("/{}/{index}/{}", pictures.list, pictures.field))
    });
    extracted.collect()
}

fn extract_one(field: &mut Value, pointer: String) -> Option<ExtractedPicture> {
    let mut picture = match field.take() {
        Value::Object(picture) if picture.get("data").is_some_and(Value::is_string) => picture,
        // A text in place of the object can only be the data.
        Value::String(data) => Fields::from_iter([("data".to_owned(), Value::String(data))]),
        other => {
            *field = other;
            return None;
        }
    };

    let mut take_text = |name: &str| match picture.shift_remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (data, mime_type, encoding) = (take_text("data"), take_text("mimeType"), take_text("encoding"));
    *field = Value::Object(picture);

    let is_base64 = encoding.is_empty() || encoding.eq_ignore_ascii_case("base64");
    let data = if is_base64 { PictureData::Base64(data.into()) } else { PictureData::UnknownEncoding };

    Some(ExtractedPicture { pointer, data, mime_type, hint_if_omitted: None })
}

/// Decodes the pictures one after the other, and describes each one in `answer`: its number, or why it is omitted.
/// Pictures that are not decoded by `deadline` are omitted.
pub(super) async fn decode_all(
    answer: &mut Value,
    extracted: Vec<ExtractedPicture>,
    places: &KeyPlaces,
    deadline: Instant,
) -> Vec<Picture> {
    let mut pictures = Vec::new();

    for one in extracted {
        let (pointer, hint_if_omitted) = (one.pointer.clone(), one.hint_if_omitted);
        let decoded = if pictures.len() < MAX_PICTURES {
            decode(one, places, deadline).await
        } else {
            Err(format!("only the first {MAX_PICTURES} pictures are shown"))
        };

        if let (Err(_), Some(hint), Value::Object(answer)) = (&decoded, hint_if_omitted, &mut *answer) {
            answer.insert("hint".to_owned(), Value::from(hint));
        }

        let Some(Value::Object(object)) = answer.pointer_mut(&pointer) else { continue };
        let mut description = match decoded {
            Ok(picture) => {
                let description = describe(pictures.len() + 1, &picture);
                pictures.push(picture);
                description
            }
            Err(reason) => Fields::from_iter([("omitted".to_owned(), Value::String(reason))]),
        };

        for (name, value) in std::mem::take(object) {
            description.entry(name).or_insert(value);
        }

        *object = description;
    }

    pictures
}

/// Decodes a picture, or returns why it cannot be delivered.
async fn decode(
    extracted: ExtractedPicture,
    places: &KeyPlaces,
    deadline: Instant,
) -> Result<Picture, String> {
    // A decoder that panics must not end the call.
    let decoding = on_other_thread(places, move || decode_blocking(&extracted));
    match tokio::time::timeout_at(deadline, decoding).await {
        Ok(Ok(decoded)) => decoded,
        Ok(Err(_)) => Err("it could not be decoded".to_owned()),
        Err(_) => Err("the time limit of the call passed before it was decoded".to_owned()),
    }
}

fn decode_blocking(extracted: &ExtractedPicture) -> Result<Picture, String> {
    const NO_BASE64: &str = "its data is not Base64";

    let data = match &extracted.data {
        PictureData::Base64(text) => {
            // Some encoders insert line breaks.
            let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            Bytes::from(BASE64.decode(text).map_err(|_| NO_BASE64.to_owned())?)
        }
        PictureData::UnknownEncoding => return Err(NO_BASE64.to_owned()),
        PictureData::File(data) => data.clone(),
    };

    picture::prepare(data, &extracted.mime_type).map_err(|reason| reason.to_string())
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
