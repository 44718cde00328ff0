//! The part `vcs` of a build's details (supplement 10.8).

use serde_json::{Value, json};

use super::{Checkout, CiJob, remote_address::provider};
use crate::fields::Fields;

/// Number of characters of a short commit hash.
const SHORT_HASH_CHARS: usize = 7;

/// Returns the part `vcs` of a build's details, or `None` if neither the checkout nor the CI job names a commit.
#[must_use]
pub(crate) fn vcs_details(checkout: Option<Checkout>, job: Option<&CiJob>) -> Option<Value> {
    let job_checkout = job.map(|job| job.checkout.clone()).unwrap_or_default();
    let checkout = checkout.unwrap_or_else(|| job_checkout.clone());
    if checkout.commit.is_empty() {
        return None;
    }

    // The variables of a job may describe another commit than the one of the checkout.
    let is_same_commit = checkout.commit == job_checkout.commit;
    let tag = checkout.tag.or(job_checkout.tag.filter(|_| is_same_commit));
    // Some CI systems name the tag as the branch of a job that builds a tag.
    let job_branch = job_checkout.branch.filter(|branch| Some(branch) != tag.as_ref());
    let remote = checkout.remote;
    let provider = remote.as_deref().and_then(provider).map(str::to_owned);

    let short_hash: String = checkout.commit.chars().take(SHORT_HASH_CHARS).collect();
    let mut vcs = Fields::from_iter([
        ("type".to_owned(), json!("git")),
        ("commit".to_owned(), json!({"hash": checkout.commit, "short_hash": short_hash})),
    ]);
    let optional = [
        ("provider", provider),
        ("repository_url", remote),
        ("branch", checkout.branch.or(job_branch)),
        ("tag", tag),
    ];
    for (field, value) in optional {
        if let Some(value) = value {
            vcs.insert(field.to_owned(), json!(value));
        }
    }

    Some(Value::Object(vcs))
}
