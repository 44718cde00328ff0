//! Finds answers that a reply contains unchanged. Most answers of the service are such answers, so that no values are built.

use super::{
    answer_fields::{ReplyLimits, may_be_renamed, missing_field},
    compact::{CompactJson, compact},
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

    let json = compact(std::str::from_utf8(&answer.body).ok()?)?;
    if !json.is_object() || has_repeated_names(&json) || has_hidden(&json.text) || key.may_be_in(&json.text) {
        return None;
    }

    let names = json.fields().map(|(name, _)| name);
    let is_renamed = names.clone().any(|name| may_be_renamed(name, limits.tmsys_name));
    if is_renamed || missing_field(entry, names).is_some() {
        return None;
    }

    let head = head(&json)?;

    Some(UnchangedText::new(json.text, head))
}

/// Returns whether two fields have the same name, of which only one counts, or there are too many fields to compare.
fn has_repeated_names(json: &CompactJson) -> bool {
    let names = || json.fields().map(|(name, _)| name);
    // Most names differ in their marks already, so that only a few are compared.
    let mark = |name: &str| {
        let byte = |index: usize| name.as_bytes().get(index).map_or(0, |byte| usize::from(*byte));
        let last = name.len().saturating_sub(1);
        1_u64 << ((name.len() + 3 * byte(0) + 5 * byte(last / 2) + 7 * byte(last)) % 64)
    };

    let mut marks = 0;
    let is_repeated = |(index, name): (usize, &str)| {
        let mark = mark(name);
        let has_own_mark = marks & mark == 0;
        marks |= mark;
        !has_own_mark && names().take(index).any(|earlier| earlier == name)
    };

    names().len() > MAX_FIELDS || names().enumerate().any(is_repeated)
}

/// Returns the fields that the call itself reads.
fn head(json: &CompactJson) -> Option<Fields> {
    let is_read = |name: &str| ResultKind::is_reference_field(name) || [PAGINATION, NEXT].contains(&name);
    let read = json.fields().filter(|(name, _)| is_read(name));
    let parsed = read.map(|(name, value)| Some((name.to_owned(), serde_json::from_str(value).ok()?)));

    parsed.collect()
}
