//! API keys that every sandbox accepts or refuses. They are public constants, not secrets.

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
