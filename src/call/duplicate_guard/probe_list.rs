//! The list that contains the records that a call makes, and the choice of its new records.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{call::paging, fields::Fields, service::operation::ListProbe};

/// Returns the arguments that request a page of the list: the newest records first, filtered by arguments of the call.
pub(in crate::call) fn list_arguments(probe: &ListProbe, arguments: &Fields, page: u64) -> Fields {
    let order = probe.newest_first.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    let narrowed =
        probe.filters.iter().filter_map(|name| Some(((*name).to_owned(), arguments.get(*name)?.clone())));
    let mut list = paging::page_arguments(&Fields::new(), page);
    list.extend(order.chain(narrowed));
    list
}

/// Returns whether a record may have been made at `start` or later. A record without a time may be new.
pub(in crate::call) fn may_be_new(probe: &ListProbe, record: &Value, start: Timestamp) -> bool {
    creation_time(probe, record).is_none_or(|time| time >= start)
}

/// Returns whether no later page can hold a new record.
///
/// This is the case if the list was requested with the newest records first, every record of the page has a time, and the
/// times descend to a time before `start`.
pub(in crate::call) fn is_past_window(probe: &ListProbe, records: &[Value], start: Timestamp) -> bool {
    if probe.newest_first.is_empty() || records.len() < 2 {
        return false;
    }

    let times: Option<Vec<_>> = records.iter().map(|record| creation_time(probe, record)).collect();

    times.is_some_and(|times| {
        times.is_sorted_by(|one, next| one > next) && times.last().is_some_and(|last| *last < start)
    })
}

fn creation_time(probe: &ListProbe, record: &Value) -> Option<Timestamp> {
    record.get(probe.created_at?)?.as_str()?.parse().ok()
}

/// Returns the id of a record in lower case. The id is the first of the fields that callers see.
pub(in crate::call) fn record_id(probe: &ListProbe, record: &Value) -> Option<String> {
    let id = record.get(*probe.shown_fields.first()?)?.as_str()?;
    Some(id.to_ascii_lowercase())
}

/// Returns the fields of a record by which callers recognize it.
pub(in crate::call) fn caller_view(probe: &ListProbe, record: &Value) -> Value {
    let field = |name: &&str| Some(((*name).to_owned(), record.get(*name)?.clone()));
    Value::Object(probe.shown_fields.iter().filter_map(field).collect())
}
