//! What could not be read: one entry for what failed in the same way.

use std::collections::BTreeMap;

use super::{outcome::Omission, texts::shorten_line};
use crate::failure::{Code, Failure};

/// Ids that an entry names.
const MOST_NAMED: usize = 3;

/// Longest reason, in characters.
const LONGEST_REASON: usize = 200;

/// What could not be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(Vec<Note>);

#[derive(Clone, Debug)]
struct Note {
    /// Such as `run`.
    what: &'static str,
    id: String,
    failure: Failure,
}

impl Notes {
    pub(super) fn add(&mut self, what: &'static str, id: impl Into<String>, failure: Failure) {
        self.0.push(Note { what, id: id.into(), failure });
    }

    /// Something that nobody asked for.
    pub(super) fn skipped(&mut self, what: &'static str, id: impl Into<String>, why: &str) {
        self.add(what, id, Failure::new(Code::Timeout, why));
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The entries, in a fixed order.
    pub(super) fn told(&self) -> Vec<Omission> {
        let mut alike: BTreeMap<(&str, String, Option<u16>), Vec<&Note>> = BTreeMap::new();
        for note in &self.0 {
            let key = (note.what, format!("{:?}", note.failure.code), note.failure.status);
            alike.entry(key).or_default().push(note);
        }

        let told = |mut notes: Vec<&Note>| {
            notes.sort_by(|one, other| {
                (&one.id, &one.failure.message).cmp(&(&other.id, &other.failure.message))
            });
            let first = notes.first()?;
            let named: Vec<_> = notes.iter().take(MOST_NAMED).map(|note| note.id.as_str()).collect();
            let more = match notes.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let what = format!("{} {}{more}", first.what, named.join(", "));
            Some(Omission {
                what: shorten_line(what.trim_end(), LONGEST_REASON),
                why: shorten_line(&first.failure.message, LONGEST_REASON),
            })
        };

        alike.into_values().filter_map(told).collect()
    }
}
