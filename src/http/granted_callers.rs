//! The callers of one credential, and the choice of the caller of a call. A user who signs in has one caller for each grant; a
//! key has one.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::{
    call::{
        Caller, User,
        arguments::{CommonArguments, ToolArguments},
        scope::ASK_OPERATOR,
    },
    client::ApiKey,
    failure::{Code, Failure},
    fields::Fields,
    mcp::Callers,
    service::{api::tests::ListTests, catalog::ListedOperation as _, tool::ToolDefinition},
};

/// Purpose of the derived key that identifies a credential.
pub(super) const ID_PURPOSE: &[u8] = b"tas-mcp tenants 1";

/// An API key that users may use, and for what.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    /// The key. Users never see it.
    pub(super) key: ApiKey,
    /// The calls that may be made with the key.
    pub(super) limits: GrantLimits,
}

impl Grant {
    /// Returns what distinguishes the grant from others. The key is not in it.
    pub(super) fn identity(&self) -> (Vec<u8>, &GrantLimits) {
        (self.key.derive_key(ID_PURPOSE), &self.limits)
    }
}

/// The calls that may be made with an API key. The default is all calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct GrantLimits {
    /// The projects; `None` for all.
    pub(super) projects: Option<Arc<[String]>>,
    /// The permissions; `None` for all.
    pub(super) permissions: Option<Arc<[String]>>,
}

/// The callers of one credential, in the order in which they are preferred; or why every call fails.
#[derive(Clone, Debug)]
pub(super) struct GrantedCallers(Result<Vec<Caller>, Failure>);

impl GrantedCallers {
    /// Returns the only caller.
    pub(super) fn one(caller: Result<Caller, Failure>) -> Self {
        Self(caller.map(|caller| vec![caller]))
    }

    /// Returns the callers of the user `principal`, who share the connections of `configured`, but nothing that it remembers.
    /// Without a grant every call is refused.
    pub(super) fn of_user(configured: &Caller, principal: &str, grants: &[Grant]) -> Self {
        let Some(first) = grants.first() else { return Self(Ok(Vec::new())) };

        let user = Arc::new(User {
            principal: principal.to_owned(),
            key: first.key.clone(),
            memory: configured.new_memory(),
        });
        let caller = |Grant { key, limits: GrantLimits { projects, permissions } }: Grant| {
            configured.with_key_of_user(Arc::clone(&user), key, projects, permissions)
        };
        Self(Ok(grants.iter().cloned().map(caller).collect()))
    }

    /// Returns the same callers in another project scope; `None` is global scope.
    pub(super) fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        let with_scope = |caller: &Caller| caller.with_scope(project, is_read_only);
        Self(self.0.clone().map(|callers| callers.iter().map(with_scope).collect()))
    }

    /// Returns whether some caller may call `tool`. If all calls fail, every one of them explains this.
    pub(super) fn permit(&self, tool: &ToolDefinition) -> bool {
        self.0.is_err() || self.all().iter().any(|caller| caller.permits(tool, None))
    }

    /// Returns whether the service has accepted a key.
    pub(super) fn is_key_accepted(&self) -> bool {
        self.all().iter().any(Caller::is_key_accepted)
    }

    /// Asks the service whether it accepts the first key, with a small request that every key may make.
    ///
    /// # Errors
    /// `unauthenticated` if it does not, or why it cannot be asked.
    pub(super) async fn confirm_key(&self) -> Result<(), Failure> {
        let caller = self.first()?;
        let project = caller.known_projects().into_iter().next();
        let arguments = Fields::from_iter([("page_size".to_owned(), 1.into())]);

        let common = CommonArguments::in_project(project.as_deref());
        caller.call(ListTests::entry(), ToolArguments::new(arguments, common)).await.map(drop)
    }

    /// Returns whether a caller remembers calls of unknown outcome.
    pub(super) fn has_uncertain_calls(&self) -> bool {
        self.all().iter().any(Caller::has_uncertain_calls)
    }

    fn all(&self) -> &[Caller] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the first of several callers whose key reaches the project of the call, or the records of its ids.
    ///
    /// # Errors
    /// The failure of a look-up.
    async fn find<'a>(
        &'a self,
        tool: &ToolDefinition,
        arguments: &ToolArguments,
    ) -> Result<&'a Caller, Failure> {
        let requested = arguments.common.project_id.as_deref();
        let permitted: Vec<_> = self.all().iter().filter(|caller| caller.permits(tool, requested)).collect();
        // If no caller may make the call, or none reaches the records, the call itself reports it.
        let Some(first) = permitted.first().copied() else { return self.first() };
        if permitted.len() == 1 {
            return Ok(first);
        }

        for caller in permitted {
            if caller.reaches(tool, arguments).await? {
                return Ok(caller);
            }
        }
        Ok(first)
    }
}

impl Callers for GrantedCallers {
    fn first(&self) -> Result<&Caller, Failure> {
        let callers = self.0.as_ref().map_err(Clone::clone)?;
        callers.first().ok_or_else(|| {
            let message = "no grant of this server names the person";
            Failure::new(Code::PermissionDenied, message).hint(ASK_OPERATOR)
        })
    }

    fn choose<'a>(
        &'a self,
        tool: &'a ToolDefinition,
        arguments: &'a ToolArguments,
    ) -> BoxFuture<'a, Result<Caller, Failure>> {
        Box::pin(async move { self.find(tool, arguments).await.cloned() })
    }

    fn known_projects(&self) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for project in self.all().iter().flat_map(Caller::known_projects) {
            if !known.contains(&project) {
                known.push(project);
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::api::{runs::ListRuns, shared_steps::ListSharedSteps};

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

        let configured = Caller::of_no_service();
        for (limits, project, lists_runs, lists_steps) in cases {
            let key = ApiKey::parse("svc_demo_key").expect("a key");
            let grant = Grant { key, limits: limits.clone() };
            let callers = GrantedCallers::of_user(&configured, "user", &[grant]);
            let caller = callers.first().expect("a caller");
            let permitted =
                [ListRuns::entry(), ListSharedSteps::entry()].map(|entry| caller.permits(entry, project));
            assert_eq!(permitted, [lists_runs, lists_steps], "{limits:?} {project:?}");
        }
    }
}
