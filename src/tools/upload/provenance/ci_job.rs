//! The CI job that this process is part of, read from its environment variables (supplement 10.8).

use serde_json::{Value, json};

use super::{Checkout, ci_systems::CI_SYSTEMS, git_directory::object_id, remote_address::public_address};
use crate::fields::Fields;

/// A CI job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiJob {
    /// The part `ci` of a build's details.
    pub ci: Value,
    /// The checkout as the variables describe it. The commit is empty if no variable names it. The files of the checkout
    /// have no branch, because a job checks out a commit.
    pub checkout: Checkout,
}

/// Returns the CI job that the environment variables describe, or `None` outside of CI. `variable` returns the value of
/// a variable.
pub fn detect_ci_job(variable: impl Fn(&str) -> Option<String>) -> Option<CiJob> {
    let value = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let Some(system) = CI_SYSTEMS.iter().find(|system| value(system.marker).is_some()) else {
        return value("CI").map(|_| CiJob { ci: json!({"system": "custom"}), checkout: Checkout::default() });
    };

    let mut ci = Fields::from_iter([("system".to_owned(), json!(system.name))]);
    for (field, template) in system.fields {
        if let Some(text) = expand(template, value) {
            ci.insert((*field).to_owned(), json!(text));
        }
    }
    let text = |template: &str| expand(template, value);
    let checkout = Checkout {
        commit: text(system.commit).and_then(|commit| object_id(&commit)).unwrap_or_default(),
        branch: system.branch.iter().find_map(|template| branch_name(&text(template)?)),
        tag: system
            .tag
            .iter()
            .find_map(|template| Some(text(template)?.strip_prefix("refs/tags/")?.to_owned())),
        remote: text(system.repository).and_then(|address| public_address(&address)),
    };

    Some(CiJob { ci: Value::Object(ci), checkout })
}

/// Replaces the names in braces by the values of the variables. Returns `None` if a variable is not set.
fn expand(template: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    for (index, piece) in template.split(['{', '}']).enumerate() {
        // Every second piece is the name of a variable.
        text.push_str(&if index % 2 == 1 { value(piece)? } else { piece.to_owned() });
    }
    Some(text)
}

/// Returns the branch that `reference` stands for, or `None` for tags and other references.
fn branch_name(reference: &str) -> Option<String> {
    let name = reference.strip_prefix("refs/heads/").or_else(|| reference.strip_prefix("origin/"));
    let name = name.unwrap_or(reference);
    (!name.starts_with("refs/")).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_branches_have_a_branch_name() {
        let cases = [
            ("refs/heads/feature/a", Some("feature/a")),
            ("origin/main", Some("main")),
            ("main", Some("main")),
            ("refs/tags/v1", None),
            ("refs/pull/1/merge", None),
        ];
        for (reference, expected) in cases {
            assert_eq!(branch_name(reference).as_deref(), expected, "{reference}");
        }
    }
}
