//! Finds answers that a reply contains unchanged. Most answers of the service are such answers, so that no values are built.

use std::{borrow::Cow, fmt::Formatter};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    answer_fields::{ReplyLimits, may_be_renamed, missing_field},
    compact::compact,
    content::UnchangedText,
    next_page::{NEXT, PAGINATION},
};
use crate::{
    call::operation_request::OperationRequest,
    client::{ApiKey, HttpResponse},
    fields::Fields,
    service::{operation::ResponseKind, result_kind::ResultKind},
    text::has_hidden,
};

/// Largest number of fields of an object whose names are compared with each other. An object with more fields is parsed.
const MAX_FIELDS: usize = 64;

/// The name of a field, which is copied only if it contains escape sequences.
#[derive(PartialEq, Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

/// The fields of an object, each with its JSON. Two fields of the same name are refused, because only one of them counts.
struct RawFields<'a>(Vec<(FieldName<'a>, &'a RawValue)>);

impl RawFields<'_> {
    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(name, _)| name.0.as_ref())
    }
}

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldVisitor)
    }
}

/// Collects the fields of an object.
struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = RawFields<'de>;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::<(FieldName<'de>, _)>::with_capacity(MAX_FIELDS);
        while let Some((name, value)) = map.next_entry()? {
            if fields.iter().any(|(earlier, _)| *earlier == name) {
                return Err(A::Error::custom("two fields have the same name"));
            }
            if fields.len() == MAX_FIELDS {
                return Err(A::Error::custom("too many fields"));
            }
            fields.push((name, value));
        }

        Ok(RawFields(fields))
    }
}

/// Returns the object of an answer that a reply contains unchanged. Returns `None` if the answer must be converted, or is
/// not what the operation specifies.
pub(super) fn unchanged(
    request: &OperationRequest,
    answer: &HttpResponse,
    key: &ApiKey,
    limits: &ReplyLimits<'_>,
) -> Option<UnchangedText> {
    let entry = request.entry;
    let info = &entry.request;
    if info.response_kind != ResponseKind::Json || info.pictures.is_some() || info.fill_defaults.is_some() {
        return None;
    }

    let text = compact(std::str::from_utf8(&answer.body).ok()?)?;
    if has_hidden(&text) || key.may_be_in(&text) {
        return None;
    }

    let fields: RawFields<'_> = serde_json::from_str(&text).ok()?;
    let is_renamed = fields.names().any(|name| may_be_renamed(name, limits.tmsys_name));
    if is_renamed || missing_field(entry, fields.names()).is_some() {
        return None;
    }

    let head = head(&fields)?;

    Some(UnchangedText::new(text, head))
}

/// Returns the fields that the call itself reads.
fn head(fields: &RawFields<'_>) -> Option<Fields> {
    let is_read = |name: &str| ResultKind::is_reference_field(name) || [PAGINATION, NEXT].contains(&name);
    let read = fields.0.iter().filter(|(name, _)| is_read(&name.0));
    let parsed = read.map(|(name, json)| Some((name.0.to_string(), serde_json::from_str(json.get()).ok()?)));

    parsed.collect()
}
