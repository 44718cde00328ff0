//! Takes pictures out of an answer: hosts get them as images, and the JSON says which one each was.

use std::sync::Arc;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{task::spawn_blocking, time::Instant};

use crate::{
    fields::Fields,
    picture::{self, Picture},
    service::operation::Pictures,
};

/// Most pictures of one reply; a run has few players, and each picture costs a model as much as a long text.
const MOST_PICTURES: usize = 16;

/// Standard Base64, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A picture that was taken out of an answer.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// JSON pointer to what was left of it.
    place: String,
    data: Data,
    mime_type: String,
    /// Field `hint` of the answer when the picture cannot be delivered.
    otherwise: Option<&'static str>,
}

/// The bytes of a picture.
#[derive(Clone, Debug)]
enum Data {
    Base64(Arc<str>),
    /// Text in another encoding.
    Unknown,
    File(Bytes),
}

impl Taken {
    /// A whole file, of which the answer has to say something at `place`.
    pub(super) fn file(place: &str, data: Bytes, mime_type: &str, otherwise: &'static str) -> Self {
        let (place, mime_type) = (place.to_owned(), mime_type.to_owned());
        Self { place, data: Data::File(data), mime_type, otherwise: Some(otherwise) }
    }
}

/// Takes the pictures out of an answer; what is left of each has its other fields.
pub(super) fn take(answer: &mut Fields, pictures: Pictures) -> Vec<Taken> {
    let records = answer.get_mut(pictures.list).and_then(Value::as_array_mut).into_iter().flatten();
    let fields =
        records.enumerate().filter_map(|(index, record)| Some((index, record.get_mut(pictures.field)?)));
    let taken = fields.filter_map(|(index, field)| {
        let place = format!("/{}/{index}/{}", pictures.list, pictures.field);
        let mut fields = match field.take() {
            Value::Object(fields) if fields.get("data").is_some_and(Value::is_string) => fields,
            // Text in place of a picture can be nothing but its data.
            Value::String(data) => Fields::from_iter([("data".to_owned(), Value::String(data))]),
            other => {
                *field = other;
                return None;
            }
        };
        let mut text = |name: &str| match fields.shift_remove(name) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let (data, mime_type, encoding) = (text("data"), text("mimeType"), text("encoding"));
        *field = Value::Object(fields);
        let is_base64 = encoding.is_empty() || encoding.eq_ignore_ascii_case("base64");
        let data = if is_base64 { Data::Base64(data.into()) } else { Data::Unknown };
        Some(Taken { place, data, mime_type, otherwise: None })
    });

    taken.collect()
}

/// Makes pictures of what was taken out of `answer`, one after the other, and says there which one each is, or why it
/// is none. No picture is waited for after `deadline`.
pub(super) async fn deliver(answer: &mut Value, taken: Vec<Taken>, deadline: Instant) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for one in taken {
        let (place, otherwise) = (one.place.clone(), one.otherwise);
        let made = if pictures.len() < MOST_PICTURES {
            made(one, deadline).await
        } else {
            Err(format!("only the first {MOST_PICTURES} pictures are shown"))
        };

        if let (Err(_), Some(hint), Value::Object(answer)) = (&made, otherwise, &mut *answer) {
            answer.insert("hint".to_owned(), Value::from(hint));
        }

        let Some(Value::Object(rest)) = answer.pointer_mut(&place) else { continue };
        let mut said = match made {
            Ok(picture) => {
                pictures.push(picture);
                pictures.last().map(|picture| shown(pictures.len(), picture)).unwrap_or_default()
            }
            Err(why) => Fields::from_iter([("omitted".to_owned(), Value::String(why))]),
        };

        for (name, value) in std::mem::take(rest) {
            said.entry(name).or_insert(value);
        }

        *rest = said;
    }

    pictures
}

/// Decoding takes the processor, which other calls share: it has a thread of its own, and a fault of a decoder stays
/// there.
async fn made(taken: Taken, deadline: Instant) -> Result<Picture, String> {
    let making = spawn_blocking(move || picture_of(&taken));
    match tokio::time::timeout_at(deadline, making).await {
        Ok(Ok(made)) => made,
        Ok(Err(_)) => Err("it could not be decoded".to_owned()),
        Err(_) => Err("there was no time left to decode it".to_owned()),
    }
}

fn picture_of(taken: &Taken) -> Result<Picture, String> {
    const NO_BASE64: &str = "its data is not Base64";

    let data = match &taken.data {
        Data::Base64(text) => {
            let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            Bytes::from(BASE64.decode(text).map_err(|_| NO_BASE64.to_owned())?)
        }
        Data::Unknown => return Err(NO_BASE64.to_owned()),
        Data::File(data) => data.clone(),
    };

    picture::prepare(data, &taken.mime_type).map_err(|why| why.to_string())
}

fn shown(number: usize, picture: &Picture) -> Fields {
    let Picture { mime_type, width, height, original, .. } = picture;
    let mut shown = Fields::from_iter([
        ("image".to_owned(), json!(number)),
        ("mimeType".to_owned(), json!(mime_type)),
        ("width".to_owned(), json!(width)),
        ("height".to_owned(), json!(height)),
    ]);

    if let Some((width, height)) = original {
        shown.insert("original_width".to_owned(), json!(width));
        shown.insert("original_height".to_owned(), json!(height));
    }

    shown
}

/// A picture as JSON carries it.
pub fn base64(picture: &Picture) -> String {
    BASE64.encode(&picture.data)
}
