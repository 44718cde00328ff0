//! Authentication: the keys of the sandbox, their projects and permissions (service.md 1.2).

use axum::http::{HeaderMap, HeaderValue};

use crate::sandbox::answers::answer::{ApiError, Caller, FileConditions};
use crate::sandbox::seed;
use crate::service::tool::Access;

/// API keys that every sandbox accepts or refuses. They are public constants, not secrets.
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

const HEADER: &str = "X-Api-Key";

/// Every permission that an operation needs (service.md 1.2).
const ALL_PERMISSIONS: &[&str] = &[
    "project:read-runs",
    "project:operate-runs",
    "project:manage-build-storage",
    "project:edit-tests",
    "project:view-configs",
    "project:manage-minions",
];

static KEYS: [SandboxKey; 7] = [
    SandboxKey::valid(keys::DEMO, "key_demo", Some(seed::DEMO_PROJECT), ALL_PERMISSIONS),
    SandboxKey::valid(keys::ARENA, "key_arena", Some(seed::ARENA_PROJECT), ALL_PERMISSIONS),
    SandboxKey::valid(keys::ORGANIZATION, "key_organization", None, ALL_PERMISSIONS),
    SandboxKey::valid(
        keys::READ_ONLY,
        "key_read_only",
        Some(seed::DEMO_PROJECT),
        &["project:read-runs", "project:view-configs"],
    ),
    SandboxKey {
        refusal: Some("API key expired"),
        ..SandboxKey::valid(keys::EXPIRED, "key_expired", Some(seed::DEMO_PROJECT), ALL_PERMISSIONS)
    },
    SandboxKey {
        refusal: Some("API key is disabled"),
        ..SandboxKey::valid(keys::DISABLED, "key_disabled", Some(seed::DEMO_PROJECT), ALL_PERMISSIONS)
    },
    SandboxKey::valid(keys::POWERLESS, "key_powerless", Some(seed::DEMO_PROJECT), &[]),
];

pub(super) struct SandboxKey {
    secret: &'static str,
    /// Id of the key in records and in the request log.
    id: &'static str,
    /// `None`: an organization key.
    pub(super) project: Option<&'static str>,
    permissions: &'static [&'static str],
    /// Why the key is not accepted.
    refusal: Option<&'static str>,
}

impl SandboxKey {
    const fn valid(
        secret: &'static str,
        id: &'static str,
        project: Option<&'static str>,
        permissions: &'static [&'static str],
    ) -> Self {
        Self { secret, id, project, permissions, refusal: None }
    }

    /// Returns the project of a request: `named` in its path, else the project of the key.
    fn project_for(&self, named: Option<&str>) -> Result<String, ApiError> {
        match (self.project, named) {
            (None, None) => {
                Err(ApiError::unauthorized("Organization API keys need a route with /project/{projectId}"))
            }
            // Whether the project exists is checked with the records.
            (None, Some(named)) => Ok(named.to_owned()),
            (Some(own), Some(named)) if own != named => {
                Err(ApiError::forbidden("API key does not match the project"))
            }
            (Some(own), _) => Ok(own.to_owned()),
        }
    }
}

/// Returns the known key of a request, which may be expired or disabled. `secret` is the end of every key.
pub(super) fn find_key(headers: &HeaderMap, secret: &str) -> Option<&'static SandboxKey> {
    let sent = headers.get(HEADER)?.as_bytes().strip_suffix(secret.as_bytes())?;
    KEYS.iter().find(|key| key.secret.as_bytes() == sent)
}

/// Returns the id of the key of a request, or `unknown` for an unknown key.
pub(super) fn key_id(headers: &HeaderMap, secret: &str) -> Option<&'static str> {
    headers.get(HEADER).map(|_| find_key(headers, secret).map_or("unknown", |key| key.id))
}

/// Returns the caller of a request to `project`, which is `None` if the path names no project.
///
/// # Errors
///
/// Returns a 401 or a 403 if the key is missing, unknown, expired or disabled, belongs to another project, or lacks
/// the permission that `access` requires.
pub(super) fn authorize(
    headers: &HeaderMap,
    secret: &str,
    project: Option<&str>,
    access: Access,
) -> Result<Caller, ApiError> {
    let conditions = FileConditions::from_headers(headers);
    // An operation without a key ignores a key that is sent (service.md 1.2).
    if let (Access::NoKey, Some(project)) = (access, project) {
        return Ok(Caller { project: project.to_owned(), key_id: "none", conditions });
    }
    if headers.get(HEADER).is_none_or(HeaderValue::is_empty) {
        return Err(ApiError::unauthorized("API key required"));
    }

    let key = find_key(headers, secret).ok_or_else(|| ApiError::unauthorized("Invalid API key"))?;
    // This is checked before the project, so that an expired key is reported as expired for every project.
    if let Some(refusal) = key.refusal {
        return Err(ApiError::forbidden(refusal));
    }

    let project = key.project_for(project)?;
    if let Access::Permission(permission) = access
        && !key.permissions.contains(&permission)
    {
        return Err(ApiError::forbidden(format!("API key missing required permission: {permission}")));
    }

    Ok(Caller { project, key_id: key.id, conditions })
}
