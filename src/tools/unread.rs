//! What a tool could not read, and why. Its answer names it, so that nobody takes the answer as complete.

use std::fmt::Display;

use indexmap::IndexSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::{
    call::paging::ListRecords,
    failure::{Code, Failure},
    text::shorten_line,
};

/// Number of things that an entry names.
const MOST_NAMED: usize = 3;

/// Longest text of an entry, and of all reasons in one line, in characters.
const LONGEST_TEXT: usize = 200;
const LONGEST_REASON: usize = 300;

/// What could not be read.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(into = "Vec<Omission>")]
pub struct Unread {
    entries: Vec<Entry>,
    /// Whether an equal call may read more. What the key may not read stays unread.
    pub(crate) may_be_read_later: bool,
    /// Whether something was left out because of a limit of this program.
    pub(crate) is_cut: bool,
}

/// Things of one kind that were not read for the same cause.
#[derive(Clone, Debug)]
struct Entry {
    kind: String,
    cause: String,
    names: IndexSet<String>,
    /// The cause as the first of them states it.
    why: String,
}

impl Unread {
    /// Adds what a request did not read. A missing permission is said once for everything that it keeps unread.
    pub(crate) fn add(&mut self, kind: &str, name: impl Display, failure: &Failure) {
        let refusals = [Code::Unauthenticated, Code::PermissionDenied, Code::FeatureDisabled];
        self.may_be_read_later |= !refusals.contains(&failure.code);

        if let Some(permission) = &failure.facts.missing_permission {
            let why = format!("the key lacks the permission `{permission}`");
            self.insert("", format!("{kind} {name}").trim_end(), why.clone(), &why);
        } else {
            let cause = format!("{:?} {:?}", failure.code, failure.status);
            self.insert(kind, &name.to_string(), cause, &failure.message);
        }
    }

    /// Adds what the service did not tell.
    pub(crate) fn omit(&mut self, kind: &str, name: &str, why: &str) {
        self.may_be_read_later = true;
        self.insert(kind, name, why.to_owned(), why);
    }

    /// Adds what was left out because of a limit.
    pub(crate) fn cut(&mut self, what: &str, why: &str) {
        self.is_cut = true;
        self.insert(what, "", why.to_owned(), why);
    }

    fn insert(&mut self, kind: &str, name: &str, cause: String, why: &str) {
        let names = IndexSet::from([name.to_owned()]);
        self.join(Entry { kind: kind.to_owned(), cause, names, why: why.to_owned() });
    }

    fn join(&mut self, entry: Entry) {
        let is_same = |known: &&mut Entry| known.kind == entry.kind && known.cause == entry.cause;
        match self.entries.iter_mut().find(is_same) {
            Some(same) => same.names.extend(entry.names),
            None => self.entries.push(entry),
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.may_be_read_later |= other.may_be_read_later;
        self.is_cut |= other.is_cut;
        other.entries.into_iter().for_each(|entry| self.join(entry));
    }

    /// Returns the records of a list of which at most `max_pages` were read; `None` if its first page could not be read.
    pub(crate) fn list(
        &mut self,
        what: &str,
        list: Result<ListRecords, Failure>,
        max_pages: u64,
    ) -> Option<Vec<Value>> {
        let list = list.map_err(|failure| self.add(what, "", &failure)).ok()?;
        Some(self.pages(what, list, max_pages))
    }

    /// Returns the records of a list whose first page was read.
    pub(crate) fn pages(&mut self, what: &str, list: ListRecords, max_pages: u64) -> Vec<Value> {
        let page = format!("{what}, page");
        for (number, failure) in &list.failed_pages {
            self.add(&page, number, failure);
        }
        if list.has_more_pages {
            self.cut(&format!("{page} {max_pages} and after"), "the list is too long to be read completely");
        }

        list.records
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the beginning of all of it in one line.
    pub(crate) fn reason(&self) -> Option<String> {
        let reasons: Vec<_> =
            self.entries.iter().map(|entry| format!("{}: {}", entry.what(), entry.why)).collect();
        (!reasons.is_empty()).then(|| shorten_line(&reasons.join("; "), LONGEST_REASON))
    }
}

impl Entry {
    fn what(&self) -> String {
        let named: Vec<_> = self.names.iter().take(MOST_NAMED).map(String::as_str).collect();
        let more = self.names.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        shorten_line(format!("{} {}{more}", self.kind, named.join(", ")).trim(), LONGEST_TEXT)
    }
}

impl From<Unread> for Vec<Omission> {
    fn from(unread: Unread) -> Self {
        let omission =
            |entry: Entry| Omission { what: entry.what(), why: shorten_line(&entry.why, LONGEST_TEXT) };
        unread.entries.into_iter().map(omission).collect()
    }
}

/// Something that could not be read, and the reason.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Omission {
    pub what: String,
    pub why: String,
}

/// What an answer says of what it lacks; nothing if it lacks nothing.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// `true`: something is missing; `unread` names it.
    pub incomplete: Option<bool>,
    /// How to get what is missing.
    pub repeat: Option<String>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

impl From<Unread> for Missing {
    fn from(unread: Unread) -> Self {
        let advice = "what `unread` names is missing: repeat the call with the same arguments, and tell the person if it is missing again";
        Self {
            incomplete: (!unread.is_empty()).then_some(true),
            repeat: unread.may_be_read_later.then(|| advice.to_owned()),
            unread: unread.into(),
        }
    }
}
