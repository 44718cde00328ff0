//! What callers were given by calls: it was not made by an equal call of unknown outcome.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::{equality::Call, moment::Moment};

/// Most answers whose ids are remembered.
const MOST: usize = 256;

/// What a caller was given.
#[derive(Debug)]
struct HttpResponse {
    call: Call,
    ids: BTreeSet<String>,
    /// When it was told that they are there; `None`: the call itself has made them.
    told: Option<Moment>,
}

/// The latest answers, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Given(VecDeque<HttpResponse>);

impl Given {
    pub(super) fn add<'a>(
        &mut self,
        call: &Call,
        told: Option<Moment>,
        records: impl IntoIterator<Item = &'a Value>,
    ) {
        let mut ids = BTreeSet::new();
        records.into_iter().for_each(|record| collect(record, false, &mut ids));
        if ids.is_empty() {
            return;
        }

        if self.0.len() >= MOST {
            self.0.pop_front();
        }

        self.0.push_back(HttpResponse { call: call.clone(), ids, told });
    }

    /// The ids, in lower case, that an equal call has made, or that were there before this one was `sent`.
    pub(super) fn before(&self, call: &Call, sent: Moment) -> BTreeSet<String> {
        let was_there = |told: Moment| told.later(sent) == sent;
        let equal = self.0.iter().filter(|answer| answer.call == *call);
        let others = equal.filter(|answer| answer.told.is_none_or(was_there));
        others.flat_map(|answer| &answer.ids).cloned().collect()
    }
}

/// The values of fields that are named as ids, at any depth.
fn collect(value: &Value, is_id: bool, ids: &mut BTreeSet<String>) {
    match value {
        Value::String(id) if is_id => drop(ids.insert(id.to_ascii_lowercase())),
        Value::Array(items) => items.iter().for_each(|item| collect(item, is_id, ids)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let is_id = name == "id" || name.ends_with("_id") || name.ends_with("_ids");
            collect(value, is_id, ids);
        }),
        _ => {}
    }
}
