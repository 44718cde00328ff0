//! Rules between arguments that a conservative JSON schema cannot say, as data: the client checks them before any
//! request, and the sandbox enforces them as the service does.

use serde_json::Value;

use crate::{fields::Fields, violation::Violation};

/// A rule between the arguments of one operation. An argument counts as given when it is present.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Exactly one of these has to be given.
    ExactlyOne(&'static [&'static str]),
    /// At least one of these has to be given.
    AtLeastOne(&'static [&'static str]),
    /// The first goes only together with the second.
    Needs(&'static str, &'static str),
    /// These two exclude each other.
    Excludes(&'static str, &'static str),
    /// The rules hold when the named argument is `true`.
    WhenTrue(&'static str, &'static [Rule]),
    /// The named argument has to be `true` when the first is given.
    NeedsTrue(&'static str, &'static str),
    /// Anything else: adds what it finds.
    Custom(fn(&Fields, &mut Vec<Violation>)),
}

impl Rule {
    /// Adds a violation for each way in which the arguments break the rule.
    pub fn check(&self, arguments: &Fields, violations: &mut Vec<Violation>) {
        let given = |name: &str| arguments.contains_key(name);
        let mut broken = |path: &str, rule: String| violations.push(Violation::new(path, rule));

        match *self {
            Self::ExactlyOne(names) => {
                let found: Vec<_> = names.iter().copied().filter(|name| given(name)).collect();
                if found.len() != 1 {
                    let got = if found.is_empty() { "none".to_owned() } else { quoted(&found) };
                    broken("", format!("exactly one of {} must be provided, got {got}", quoted(names)));
                }
            }
            Self::AtLeastOne(names) => {
                if !names.iter().any(|name| given(name)) {
                    broken("", format!("at least one of {} must be provided", quoted(names)));
                }
            }
            Self::Needs(name, needed) => {
                if given(name) && !given(needed) {
                    broken(name, format!("`{name}` requires `{needed}`"));
                }
            }
            Self::Excludes(one, other) => {
                if given(one) && given(other) {
                    broken(one, format!("`{one}` and `{other}` cannot be combined"));
                }
            }
            Self::WhenTrue(name, rules) => {
                if arguments.get(name) == Some(&Value::Bool(true)) {
                    for rule in rules {
                        rule.check(arguments, violations);
                    }
                }
            }
            Self::NeedsTrue(name, needed) => {
                if given(name) && arguments.get(needed) != Some(&Value::Bool(true)) {
                    broken(name, format!("`{name}` has an effect only with `{needed}: true`"));
                }
            }
            Self::Custom(check) => check(arguments, violations),
        }
    }

    /// Names of the arguments that the rule speaks of.
    pub fn names(&self) -> Vec<&'static str> {
        match *self {
            Self::ExactlyOne(names) | Self::AtLeastOne(names) => names.to_vec(),
            Self::Needs(one, other) | Self::Excludes(one, other) | Self::NeedsTrue(one, other) => {
                vec![one, other]
            }
            Self::WhenTrue(name, rules) => {
                std::iter::once(name).chain(rules.iter().flat_map(Self::names)).collect()
            }
            Self::Custom(_) => Vec::new(),
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
