//! Rules between arguments that the supported subset of JSON Schema cannot express.
//!
//! The client checks the rules before it sends a request. The sandbox enforces them as the service does.

use serde_json::Value;

use crate::{failure::Violation, fields::Fields};

/// A rule between the arguments of one tool, of which some are given: present, and no switch that is off.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Exactly one of these arguments must be given.
    ExactlyOne(&'static [&'static str]),
    /// At least one of these arguments must be given.
    AtLeastOne(&'static [&'static str]),
    /// If the first argument is given, the second must be given too.
    Needs(&'static str, &'static str),
    /// The two arguments must not both be given.
    Excludes(&'static str, &'static str),
    /// A function that adds a violation for each way in which the arguments break the rule.
    Custom(fn(&Fields, &mut Vec<Violation>)),
    /// A rule of this program: the service would accept the call, and ignore a part of its arguments.
    Own(&'static Rule),
    /// A rule whose violation is only a warning: the service ignores an argument, and nothing is lost by it.
    Advice(&'static Rule),
}

impl Rule {
    /// Adds a violation for each way in which the arguments break the rule.
    pub fn check(&self, arguments: &Fields, violations: &mut Vec<Violation>) {
        let is_given = |name: &str| is_given(arguments, name);
        let mut add = |path: &str, rule: String| violations.push(Violation::new(path, rule));

        match *self {
            Self::ExactlyOne(names) => {
                let found: Vec<_> = names.iter().copied().filter(|name| is_given(name)).collect();
                if found.len() != 1 {
                    let got = if found.is_empty() { "none".to_owned() } else { quoted(&found) };
                    add("", format!("exactly one of {} must be provided, got {got}", quoted(names)));
                }
            }
            Self::AtLeastOne(names) => {
                if !names.iter().any(|name| is_given(name)) {
                    add("", format!("at least one of {} must be provided", quoted(names)));
                }
            }
            Self::Needs(name, needed) => {
                if is_given(name) && !is_given(needed) {
                    add(name, format!("requires `argument:{needed}`"));
                }
            }
            Self::Excludes(one, other) => {
                if is_given(one) && is_given(other) {
                    add(one, format!("cannot be combined with `argument:{other}`"));
                }
            }
            Self::Custom(check) => check(arguments, violations),
            Self::Own(rule) | Self::Advice(rule) => rule.check(arguments, violations),
        }
    }

    /// Returns whether a call that breaks the rule is made, with a warning.
    pub const fn is_advice(&self) -> bool {
        matches!(self, Self::Advice(_))
    }

    /// Returns whether the service refuses a call that breaks the rule.
    pub const fn is_of_service(&self) -> bool {
        !matches!(self, Self::Own(_) | Self::Advice(_))
    }

    /// Returns the names of the arguments that the rule mentions. A custom rule returns none.
    pub fn names(&self) -> Vec<&'static str> {
        match *self {
            Self::ExactlyOne(names) | Self::AtLeastOne(names) => names.to_vec(),
            Self::Needs(one, other) | Self::Excludes(one, other) => vec![one, other],
            Self::Own(rule) | Self::Advice(rule) => rule.names(),
            Self::Custom(_) => Vec::new(),
        }
    }
}

/// Returns whether an argument is present, even with the value `null`. A switch that is off counts as absent.
pub(super) fn is_given(arguments: &Fields, name: &str) -> bool {
    arguments.get(name).is_some_and(|value| *value != Value::Bool(false))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`argument:{name}`")).collect::<Vec<_>>().join(", ")
}
