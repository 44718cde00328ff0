//! Ids that callers have received. A record with such an id was not made by a call of unknown outcome.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::{call_digest::CallDigest, clock_reading::ClockReading};

/// Largest number of answers whose ids are remembered.
const MAX_ANSWERS: usize = 256;

/// The ids that a caller has received in one answer.
#[derive(Debug)]
struct IssuedAnswer {
    call: CallDigest,
    ids: BTreeSet<String>,
    /// When the records were reported to the caller; `None` if the call itself has made them.
    reported: Option<ClockReading>,
}

/// The ids in the latest answers, the oldest answer first.
#[derive(Debug, Default)]
pub(super) struct IssuedIds(VecDeque<IssuedAnswer>);

impl IssuedIds {
    /// Remembers the ids of records that a caller has received for `call`.
    pub(super) fn add<'a>(
        &mut self,
        call: &CallDigest,
        reported: Option<ClockReading>,
        records: impl IntoIterator<Item = &'a Value>,
    ) {
        let mut ids = BTreeSet::new();
        records.into_iter().for_each(|record| collect_ids(record, false, &mut ids));
        if ids.is_empty() {
            return;
        }

        if self.0.len() >= MAX_ANSWERS {
            self.0.pop_front();
        }

        self.0.push_back(IssuedAnswer { call: call.clone(), ids, reported });
    }

    /// Returns the ids, in lower case, that equal calls have made, or that were reported before `sent`.
    pub(super) fn issued_before(&self, call: &CallDigest, sent: ClockReading) -> BTreeSet<String> {
        let was_before = |reported: ClockReading| reported.later(sent) == sent;
        let equal = self.0.iter().filter(|answer| answer.call == *call);
        let issued = equal.filter(|answer| answer.reported.is_none_or(was_before));
        issued.flat_map(|answer| &answer.ids).cloned().collect()
    }
}

/// Collects the values of fields whose names end like those of ids, at any depth.
fn collect_ids(value: &Value, is_id: bool, ids: &mut BTreeSet<String>) {
    match value {
        Value::String(id) if is_id => drop(ids.insert(id.to_ascii_lowercase())),
        Value::Array(items) => items.iter().for_each(|item| collect_ids(item, is_id, ids)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let is_id = name == "id" || name.ends_with("_id") || name.ends_with("_ids");
            collect_ids(value, is_id, ids);
        }),
        _ => {}
    }
}
