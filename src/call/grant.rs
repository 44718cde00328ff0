//! An API key that serves somebody else, and the calls that it may serve.

use std::sync::Arc;

use crate::{
    client::ApiKey,
    service::tool::{Access, Tool},
};

/// What a person does whose call is not covered.
pub(super) const ASK_OPERATOR: &str =
    "nothing was sent: the person can ask the operator of this MCP server for the permission";

/// An API key, and the calls that it may serve.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The key. The caller never sees it.
    pub key: ApiKey,
    /// The calls that the key may serve.
    pub limits: GrantLimits,
}

/// The calls that an API key may serve. The default is all calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GrantLimits {
    /// The projects; `None` for all.
    pub projects: Option<Arc<[String]>>,
    /// The permissions; `None` for all.
    pub permissions: Option<Arc<[String]>>,
}

impl GrantLimits {
    /// Returns whether calls of `tool` to `project` are covered. `None` is a project that the ids or the key decide.
    pub(super) fn cover(&self, tool: &Tool, project: Option<&str>) -> bool {
        let has_project = match (&self.projects, project) {
            (Some(projects), Some(project)) => projects.iter().any(|covered| covered == project),
            _ => true,
        };
        let has_permission = match (&self.permissions, tool.access) {
            (Some(permissions), Access::Permission(needed)) => {
                permissions.iter().any(|covered| covered == needed)
            }
            _ => true,
        };

        has_project && has_permission
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::{
        api::{runs::ListRuns, shared_steps::ListSharedSteps},
        catalog::ListedOperation as _,
    };

    fn only(text: &str) -> Arc<[String]> {
        [text.to_owned()].into()
    }

    #[test]
    fn a_call_needs_its_project_and_its_permission() {
        let everything = GrantLimits::default();
        let demo = GrantLimits { projects: Some(only("demo")), permissions: None };
        let reading = GrantLimits { projects: None, permissions: Some(only("project:read-runs")) };
        let editing =
            GrantLimits { projects: Some(only("demo")), permissions: Some(only("project:edit-tests")) };
        let cases = [
            (&everything, Some("arena"), true, true),
            (&demo, Some("demo"), true, true),
            (&demo, Some("arena"), false, false),
            (&demo, None, true, true),
            (&reading, Some("arena"), true, true),
            (&editing, Some("demo"), false, true),
            (&editing, None, false, true),
        ];

        for (limits, project, lists_runs, lists_steps) in cases {
            let covered =
                [ListRuns::entry(), ListSharedSteps::entry()].map(|entry| limits.cover(entry, project));
            assert_eq!(covered, [lists_runs, lists_steps], "{limits:?} {project:?}");
        }
    }
}
