//! What could not be read. Omissions with the same cause become one entry.

use std::collections::BTreeMap;

use super::answer::Omission;
use crate::{
    failure::{Code, Failure},
    text::shorten_line,
};

/// Number of ids that an entry names.
const MOST_IDS: usize = 3;

/// Longest text of an entry, in characters.
const LONGEST_TEXT: usize = 200;

/// Everything that could not be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Omissions(Vec<FailedRead>);

#[derive(Clone, Debug)]
struct FailedRead {
    /// What was to be read, such as `run`.
    what: &'static str,
    id: String,
    failure: Failure,
}

impl Omissions {
    /// Adds something that could not be read.
    pub(super) fn add(&mut self, what: &'static str, id: impl Into<String>, failure: Failure) {
        self.0.push(FailedRead { what, id: id.into(), failure });
    }

    /// Adds something that was not requested because of a limit.
    pub(super) fn add_skipped(&mut self, what: &'static str, id: impl Into<String>, why: &str) {
        self.add(what, id, Failure::new(Code::Timeout, why));
    }

    /// Adds all omissions of `other`.
    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns one entry for all omissions of the same thing with the same cause, in a fixed order.
    pub(super) fn to_entries(&self) -> Vec<Omission> {
        let mut groups: BTreeMap<(&str, String, Option<u16>), Vec<&FailedRead>> = BTreeMap::new();
        for read in &self.0 {
            let FailedRead { what, failure, .. } = read;
            // `Code` has no order, but its name has one.
            groups.entry((what, format!("{:?}", failure.code), failure.status)).or_default().push(read);
        }

        groups.into_values().filter_map(join).collect()
    }
}

/// Returns one entry for omissions with the same cause.
fn join(mut omissions: Vec<&FailedRead>) -> Option<Omission> {
    omissions.sort_by_key(|read| (&read.id, &read.failure.message));

    let first = omissions.first()?;
    let ids: Vec<_> = omissions.iter().take(MOST_IDS).map(|read| read.id.as_str()).collect();
    let more = match omissions.len().saturating_sub(MOST_IDS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = format!("{} {}{more}", first.what, ids.join(", "));

    Some(Omission {
        what: shorten_line(what.trim_end(), LONGEST_TEXT),
        why: shorten_line(&first.failure.message, LONGEST_TEXT),
    })
}
