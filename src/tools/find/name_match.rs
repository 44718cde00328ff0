//! How well a name matches another. White space and letter case make no difference of names, nor how an accent is written.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::composed;

/// How a name matches, the best first.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[serde(rename_all = "lowercase")]
pub enum NameMatch {
    Exact,
    Case,
    Beginning,
    Part,
    None,
    Incomplete,
}

/// A name with composed characters (NFC) and one space between its words.
#[derive(Debug)]
pub struct ComparedName {
    name: String,
    in_lower_case: String,
}

impl ComparedName {
    /// Prepares a name for many comparisons.
    pub fn new(name: &str) -> Self {
        let name = composed(name).split_whitespace().collect::<Vec<_>>().join(" ");
        Self { in_lower_case: name.to_lowercase(), name }
    }

    /// Returns how this name matches the whole name `own` of a record; `None` if it does not.
    pub fn compare(&self, own: &Self) -> Option<NameMatch> {
        if self.name.is_empty() {
            None
        } else if self.name == own.name {
            Some(NameMatch::Exact)
        } else if self.in_lower_case == own.in_lower_case {
            Some(NameMatch::Case)
        } else if own.in_lower_case.starts_with(&self.in_lower_case) {
            Some(NameMatch::Beginning)
        } else {
            own.in_lower_case.contains(&self.in_lower_case).then_some(NameMatch::Part)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_matches_exactly_in_other_case_at_the_beginning_or_in_part() {
        for (asked, own, expected) in [
            ("Login", "Login", Some(NameMatch::Exact)),
            (" Pause  and resume", "Pause and resume ", Some(NameMatch::Exact)),
            ("Cafe\u{301}", "Caf\u{e9}", Some(NameMatch::Exact)),
            ("CAF\u{c9}", "cafe\u{301}", Some(NameMatch::Case)),
            ("login", "LOGIN", Some(NameMatch::Case)),
            ("log", "Login", Some(NameMatch::Beginning)),
            ("1.4.2", "Arena 1.4.2 (android)", Some(NameMatch::Part)),
            ("Log in", "Login", None),
            ("the Smoke plan", "Smoke", None),
            (" ", "Smoke", None),
        ] {
            let found = ComparedName::new(asked).compare(&ComparedName::new(own));
            assert_eq!(found, expected, "{asked:?} {own:?}");
        }
    }
}
