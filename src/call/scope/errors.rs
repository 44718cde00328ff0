//! Failures of a call whose project is wrong or unknown.

use serde_json::{Value, json};

use crate::{
    call::grant::ASK_OPERATOR,
    failure::{Code, Failure},
    service::result_kind::ResultId,
};

/// Adds to the failure of a writing call that nothing was changed.
pub(super) fn with_nothing_changed(mut failure: Failure) -> Failure {
    if matches!(failure.code, Code::ProjectScopeMismatch | Code::ProjectNotResolved) {
        failure.message.push_str("; nothing was changed");
    }
    failure
}

/// Returns the failure for an id that the requested project does not own. The message names both projects.
pub(super) fn owner_mismatch(requested: &str, owner: &str, id: &ResultId) -> Failure {
    let message =
        format!("{} `{}` belongs to project `{owner}`, not to `{requested}`", id.kind.noun(), id.id);
    let hint =
        format!("use `project_id: \"{owner}\"` or leave `project_id` out, or give ids of `{requested}`");
    scope_mismatch(requested, owner, message).hint(hint).detail("id", id.id.as_str())
}

/// Returns the failure for ids of one call that belong to several projects. The message names the project of each id.
pub(super) fn several_owners(requested: Option<&str>, owners: &[(&ResultId, &str)]) -> Failure {
    let named: Vec<_> =
        owners.iter().map(|(id, owner)| format!("{} `{}` to `{owner}`", id.kind.noun(), id.id)).collect();
    let listed: Vec<_> = owners.iter().map(|(id, owner)| json!({"id": id.id, "project": owner})).collect();

    let message = format!("the ids belong to several projects: {}", named.join(", "));
    let foreign = requested.and_then(|requested| {
        let (id, owner) = owners.iter().find(|(_, owner)| *owner != requested)?;
        Some((requested, *owner, id.id.as_str()))
    });
    let failure = match foreign {
        Some((requested, owner, id)) => scope_mismatch(requested, owner, message).detail("id", id),
        None => Failure::new(Code::ProjectScopeMismatch, message).status(409),
    };

    failure.hint("make one call for the ids of each project").detail("owners", listed)
}

/// Returns the failure for a requested project that is not the project of project scope.
pub(crate) fn other_project_refused(requested: &str, bound: &str) -> Failure {
    let message =
        format!("this server is bound to project `{bound}`, not to `{requested}`; nothing was sent");
    scope_mismatch(requested, bound, message)
        .hint("leave `project_id` out; another project needs a server of its own")
        .detail("id", Value::Null)
}

/// Returns the failure for an upload that does not belong to the project of the call.
pub(crate) fn upload_of_other_project(requested: &str, owner: &str, build_id: &str) -> Failure {
    let message = format!(
        "the upload of build `{build_id}` belongs to project `{owner}`, not to `{requested}`; nothing was sent"
    );
    scope_mismatch(requested, owner, message)
        .hint(format!("continue the upload where project `{owner}` is served, or start an upload here"))
        .detail("id", build_id)
}

fn scope_mismatch(requested: &str, owner: &str, message: String) -> Failure {
    Failure::new(Code::ProjectScopeMismatch, message)
        .status(409)
        .detail("requested_project", requested)
        .owning_project(owner)
}

/// Returns the failure for ids that none of the projects `asked` has.
pub(super) fn owner_not_found(ids: &[&ResultId], asked: &[String]) -> Failure {
    let named: Vec<_> = ids.iter().map(|id| format!("{} `{}`", id.kind.noun(), id.id)).collect();
    let unknown: Vec<_> = ids.iter().map(|id| id.id.clone()).collect();
    let reason = if asked.is_empty() {
        "no project is known in which they can be looked up".to_owned()
    } else {
        format!("not found in {}", asked.join(", "))
    };

    Failure::new(Code::ProjectNotResolved, format!("{}: {reason}", named.join(", ")))
        .hint("check the ids, or name their project with `project_id` or the setting TAS_PROJECTS")
        .detail("asked", asked)
        .detail("ids", unknown)
}

/// Returns the failure for a call that identifies no project although several are known.
pub(super) fn project_required(known: &[String]) -> Failure {
    let hint = if known.is_empty() {
        "pass `project_id`; TAS_PROJECTS can list the projects of an organization key".to_owned()
    } else {
        format!("pass `project_id`: {}", known.join(", "))
    };
    let message = "nothing in this call identifies a project, and the organization key is valid for several";
    Failure::new(Code::ProjectRequired, message).hint(hint).detail("known_projects", known)
}

/// Returns the failure for a project that the caller may not use.
pub(super) fn project_not_allowed(project: &str) -> Failure {
    let message = format!("no grant of the person covers project `{project}`");
    Failure::new(Code::PermissionDenied, message).hint(ASK_OPERATOR)
}

/// Returns the failure for a project key that can read no record with its project.
pub(super) fn project_of_key_unknown() -> Failure {
    let message = "the project of the key is unknown: the key can read no record that names it";
    Failure::new(Code::ProjectRequired, message).hint("pass `project_id`, or set TAS_PROJECT_ID")
}
