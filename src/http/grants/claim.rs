//! Comparison of a claim with the value that a grant names.

use std::fmt;

use serde_json::Value;

use crate::fields::Fields;

/// The persons whom a grant names: those with a value in a claim.
#[derive(Clone, Debug)]
pub(super) struct ClaimCondition {
    /// Name of the claim, or a JSON Pointer (RFC 6901) to it.
    pub(super) claim: String,
    pub(super) value: String,
}

impl fmt::Display for ClaimCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}", self.claim, self.value)
    }
}

impl ClaimCondition {
    /// Returns whether the claim is the value, or a list that contains the value.
    pub(super) fn is_met_by(&self, claims: &Fields) -> bool {
        let is_value = |found: &Value| found.as_str() == Some(&self.value);
        match self.find(claims) {
            Some(Value::Array(items)) => items.iter().any(is_value),
            Some(found) => is_value(found),
            None => false,
        }
    }

    fn find<'a>(&self, claims: &'a Fields) -> Option<&'a Value> {
        let Some(pointer) = self.claim.strip_prefix('/') else { return claims.get(&self.claim) };

        let (first, rest) = pointer
            .split_once('/')
            .map_or((pointer, ""), |(first, _)| (first, pointer.get(first.len()..).unwrap_or_default()));
        let name = first.replace("~1", "/").replace("~0", "~");
        claims.get(&name)?.pointer(rest)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_a_text_or_a_list_of_texts() {
        let claims: Fields = serde_json::from_value(json!({
            "sub": "alice",
            "groups": ["qa", "dev"],
            "realm": {"roles": ["tester"], "a/b": "c"},
            "https://example.com/team": "games",
            "level": 3,
        }))
        .expect("claims");
        let cases = [
            ("sub", "alice", true),
            ("sub", "alic", false),
            ("groups", "dev", true),
            ("groups", "Dev", false),
            ("/realm/roles", "tester", true),
            ("/realm/roles/0", "tester", true),
            ("/realm/a~1b", "c", true),
            ("/sub", "alice", true),
            ("https://example.com/team", "games", true),
            ("level", "3", false),
            ("missing", "", false),
        ];

        for (claim, value, expected) in cases {
            let condition = ClaimCondition { claim: claim.to_owned(), value: value.to_owned() };
            assert_eq!(condition.is_met_by(&claims), expected, "{claim} {value}");
        }
    }
}
