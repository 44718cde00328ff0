//! Keys, and who may do what (specification, Authentication).

use http::{HeaderMap, StatusCode};

use super::{Caller, Conditions, Fault, seed};
use crate::service::tool::Access;

/// Keys of the sandbox. They are no secrets.
pub mod keys {
    /// Project `demo`, every permission.
    pub const DEMO: &str = "svc_sandbox_demo";
    /// Project `arena`, every permission.
    pub const ARENA: &str = "svc_sandbox_arena";
    /// Every project of the organization, every permission; works on routes that name the project only.
    pub const ORGANIZATION: &str = "svc_org_sandbox";
    /// Project `demo`, may read runs and configs.
    pub const READ_ONLY: &str = "svc_sandbox_demo_read_only";
    /// Project `demo`, expired.
    pub const EXPIRED: &str = "svc_sandbox_demo_expired";
    /// Project `demo`, disabled.
    pub const DISABLED: &str = "svc_sandbox_demo_disabled";
    /// Project `demo`, valid, without any permission.
    pub const POWERLESS: &str = "svc_sandbox_demo_powerless";
}

/// Header that carries the key.
const HEADER: &str = "X-Api-Key";

const EVERYTHING: &[&str] = &[
    "project:read-runs",
    "project:operate-runs",
    "project:manage-build-storage",
    "project:edit-tests",
    "project:view-configs",
    "project:manage-minions",
];

static KEYS: [Key; 7] = [
    Key::valid(keys::DEMO, "key_demo", Some(seed::DEMO_PROJECT), EVERYTHING),
    Key::valid(keys::ARENA, "key_arena", Some(seed::ARENA_PROJECT), EVERYTHING),
    Key::valid(keys::ORGANIZATION, "key_organization", None, EVERYTHING),
    Key::valid(
        keys::READ_ONLY,
        "key_read_only",
        Some(seed::DEMO_PROJECT),
        &["project:read-runs", "project:view-configs"],
    ),
    Key {
        state: State::Expired,
        ..Key::valid(keys::EXPIRED, "key_expired", Some(seed::DEMO_PROJECT), EVERYTHING)
    },
    Key {
        state: State::Disabled,
        ..Key::valid(keys::DISABLED, "key_disabled", Some(seed::DEMO_PROJECT), EVERYTHING)
    },
    Key::valid(keys::POWERLESS, "key_powerless", Some(seed::DEMO_PROJECT), &[]),
];

/// A key of the sandbox.
pub(super) struct Key {
    secret: &'static str,
    /// Id under which records and the list of requests show it.
    id: &'static str,
    /// `None`: an organization key.
    project: Option<&'static str>,
    permissions: &'static [&'static str],
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    Valid,
    Expired,
    Disabled,
}

impl Key {
    const fn valid(
        secret: &'static str,
        id: &'static str,
        project: Option<&'static str>,
        permissions: &'static [&'static str],
    ) -> Self {
        Self { secret, id, project, permissions, state: State::Valid }
    }

    /// Whether it is that of an organization.
    pub(super) const fn is_of_organization(&self) -> bool {
        self.project.is_none()
    }

    /// The project that a request acts on: that of its path, else that of the key.
    fn project_for(&self, named: Option<&str>) -> Result<String, Fault> {
        match (self.project, named) {
            (None, None) => Err(unauthorized("Organization API keys need a route with /project/{projectId}")),
            (None, Some(named)) => Ok(named.to_owned()),
            (Some(own), Some(named)) if own != named => {
                Err(Fault::forbidden("API key does not match the project"))
            }
            (Some(own), _) => Ok(own.to_owned()),
        }
    }
}

/// The key that a request carries, whatever its state.
pub(super) fn key_of(headers: &HeaderMap) -> Option<&'static Key> {
    let sent = headers.get(HEADER)?.as_bytes();
    KEYS.iter().find(|key| key.secret.as_bytes() == sent)
}

/// Id of the key that a request carries; `unknown` for one that is none of ours.
pub(super) fn key_id(headers: &HeaderMap) -> Option<&'static str> {
    headers.get(HEADER).map(|_| key_of(headers).map_or("unknown", |key| key.id))
}

/// Lets a request pass that may act on the project which it names, or on that of its key.
pub(super) fn admit(headers: &HeaderMap, project: Option<&str>, access: Access) -> Result<Caller, Fault> {
    let conditions = Conditions::of(headers);
    if let (Access::NoKey, Some(project)) = (access, project) {
        return Ok(Caller { project: project.to_owned(), key_id: "none", conditions });
    }
    if headers.get(HEADER).is_none_or(http::HeaderValue::is_empty) {
        return Err(unauthorized("API key required"));
    }

    let key = key_of(headers).ok_or_else(|| unauthorized("Invalid API key"))?;
    match key.state {
        State::Expired => return Err(Fault::forbidden("API key expired")),
        State::Disabled => return Err(Fault::forbidden("API key is disabled")),
        State::Valid => {}
    }

    let project = key.project_for(project)?;
    if let Access::Permission(permission) = access
        && !key.permissions.contains(&permission)
    {
        return Err(Fault::forbidden(format!("API key missing required permission: {permission}")));
    }

    Ok(Caller { project, key_id: key.id, conditions })
}

fn unauthorized(error: &str) -> Fault {
    Fault::new(StatusCode::UNAUTHORIZED, error)
}
