//! The API keys of a signed-in person, each with the calls that it may serve, and the choice of the key of a call.

use std::{collections::VecDeque, sync::Arc};

use super::{Access, Gateway, arguments::ToolArguments, ids_of_call, scope::ASK_OPERATOR};
use crate::{
    client::ApiKey,
    failure::{Code, Failure},
    service::{
        catalog::OperationEntry,
        tool::{self, ToolDefinition},
    },
};

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
    /// Returns whether calls to `project` may be served.
    pub(super) fn include_project(&self, project: &str) -> bool {
        self.projects.as_ref().is_none_or(|projects| projects.iter().any(|covered| covered == project))
    }

    /// Returns whether calls of `tool` to `project` are covered. `None` is a project that the ids or the key decide.
    fn cover(&self, tool: &ToolDefinition, project: Option<&str>) -> bool {
        let has_project = project.is_none_or(|project| self.include_project(project));
        let has_permission = match (&self.permissions, tool.access) {
            (Some(permissions), tool::Access::Permission(needed)) => {
                permissions.iter().any(|covered| covered == needed)
            }
            _ => true,
        };

        has_project && has_permission
    }
}

impl Gateway {
    /// Returns a gateway for the calls of the person `principal`, which the keys of `grants` serve. The gateways share
    /// connections, but nothing that they remember. Without a grant every call is refused.
    #[must_use]
    pub fn with_grants(&self, principal: &str, grants: &[Grant]) -> Self {
        let granted = |access: &Access| {
            let keys = grants.iter().map(|grant| access.with_key(grant.key.clone(), grant.limits.clone()));
            keys.collect::<VecDeque<_>>()
        };
        let (access, others) = match self.access().map(granted) {
            Ok(mut keys) => (keys.pop_front().ok_or_else(no_grant), keys.into_iter().collect()),
            Err(failure) => (Err(failure), Arc::default()),
        };

        Self { access: Arc::new(access), others, principal: principal.into(), ..self.clone() }
    }

    /// Returns whether some key may serve calls of `tool` in the scope of this gateway. If the settings are unusable, every
    /// call explains this.
    pub fn covers(&self, tool: &ToolDefinition) -> bool {
        self.settings_failure().is_some() || self.all().any(|access| access.covers(tool, None))
    }

    /// Returns the first key that may serve a call. Of several keys, the project of the call or its ids decide.
    ///
    /// # Errors
    /// `permission_denied` if no key may serve the call, or the failure of a look-up.
    pub(super) async fn serving(
        &self,
        entry: &'static OperationEntry,
        arguments: &ToolArguments,
    ) -> Result<&Access, Failure> {
        let requested = arguments.common.project_id.as_deref();
        let first = self.first_covering(entry, requested)?;
        let covering = || self.all().filter(|access| access.covers(entry, requested));
        if covering().nth(1).is_none() {
            return Ok(first);
        }

        let ids = ids_of_call(entry, &arguments.own);
        for access in covering() {
            let sender = access.sender().await?;
            let is_able = match (access.scope.bound_project().or(requested), &access.limits.projects) {
                (Some(project), Some(_)) => access.limits.include_project(project),
                // An organization key can be one of every project.
                (Some(project), None) => access.scope.has_key_of(&sender, project).await?,
                (None, _) => access.scope.has_records(&sender, &ids).await?,
            };
            if is_able {
                return Ok(access);
            }
        }

        // If no key can read the records, the call itself reports this.
        Ok(first)
    }

    /// Returns the first key that may serve a call of `tool`. `requested` is the project that the caller names.
    ///
    /// # Errors
    /// `permission_denied` if no key may serve the call.
    pub(super) fn first_covering(
        &self,
        tool: &ToolDefinition,
        requested: Option<&str>,
    ) -> Result<&Access, Failure> {
        self.access()?;
        self.all().find(|access| access.covers(tool, requested)).ok_or_else(|| not_covered(tool, requested))
    }
}

impl Access {
    fn covers(&self, tool: &ToolDefinition, requested: Option<&str>) -> bool {
        self.limits.cover(tool, self.scope.project().or(requested))
            && requested.is_none_or(|requested| self.limits.include_project(requested))
    }
}

/// Returns the failure for a person whom no grant names.
fn no_grant() -> Failure {
    Failure::new(Code::PermissionDenied, "no grant of this server names the person").hint(ASK_OPERATOR)
}

/// Returns the failure for a call that no grant of the person covers.
fn not_covered(tool: &ToolDefinition, requested: Option<&str>) -> Failure {
    let project = requested.map(|project| format!(" in project `{project}`")).unwrap_or_default();
    let message = format!("{}: no grant of the person covers {}{project}", tool.name, tool.access);
    Failure::new(Code::PermissionDenied, message).hint(ASK_OPERATOR)
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
