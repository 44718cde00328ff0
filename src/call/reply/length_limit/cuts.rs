//! What was cut from a reply.

use serde_json::{Value, json};

use crate::text::first_characters;

/// Largest number of cuts that a reply lists.
const MAX_LISTED_CUTS: usize = 5;

/// Longest path of a cut in characters. Names of fields may have any length.
const MAX_PATH_CHARS: usize = 100;

/// A cut of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Entries were removed from the end of a list.
    Items { kept: usize, omitted: usize },
    /// Fields were removed from the end of an object.
    Fields { kept: usize, omitted: usize },
    /// The end of a string was removed.
    Characters { omitted: usize },
}

/// Everything that was cut, in the order of the fields, and the place where the search is.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    listed: Vec<(String, Cut)>,
    count: usize,
    /// Names and indexes that lead to the current value.
    path: Vec<String>,
}

impl Cuts {
    /// Runs `action` with the path extended by the name or index `name`.
    pub(super) fn inside(&mut self, name: impl Into<String>, action: impl FnOnce(&mut Self)) {
        self.path.push(name.into());
        action(self);
        self.path.pop();
    }

    /// Records a cut of the current value. Only the first cuts are listed, so that a reply with many cuts stays short.
    pub(super) fn add(&mut self, cut: Cut) {
        self.count += 1;
        if self.listed.len() < MAX_LISTED_CUTS {
            let pointer: String = self.path.iter().flat_map(|name| ["/".to_owned(), escaped(name)]).collect();
            self.listed.push((pointer, cut));
        }
    }

    /// Returns how many entries the list at `pointer` has kept, if it was cut.
    pub(super) fn kept_items(&self, pointer: &str) -> Option<usize> {
        self.listed.iter().find_map(|(path, cut)| match cut {
            Cut::Items { kept, .. } if path == pointer => Some(*kept),
            _ => None,
        })
    }

    /// Returns the description of the cuts for the reply.
    pub(super) fn into_value(self, hint: &str) -> Value {
        let listed: Vec<_> = self.listed.iter().map(|(path, cut)| description(path, *cut)).collect();
        let mut value = json!({"hint": hint, "cuts": listed});

        let unlisted = self.count - self.listed.len();
        if let Some(object) = value.as_object_mut().filter(|_| unlisted > 0) {
            object.insert("more_cuts".to_owned(), unlisted.into());
        }

        value
    }
}

fn description(path: &str, cut: Cut) -> Value {
    let path = if path.chars().count() > MAX_PATH_CHARS {
        format!("{}…", first_characters(path, MAX_PATH_CHARS))
    } else {
        path.to_owned()
    };

    match cut {
        Cut::Items { kept, omitted } => json!({"path": path, "kept": kept, "omitted": omitted}),
        Cut::Fields { kept, omitted } => {
            json!({"path": path, "kept_fields": kept, "omitted_fields": omitted})
        }
        Cut::Characters { omitted } => json!({"path": path, "omitted_characters": omitted}),
    }
}

/// Returns a name as a part of a JSON pointer (RFC 6901).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
