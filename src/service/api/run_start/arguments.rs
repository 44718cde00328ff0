//! The arguments that both operations take.
#![expect(missing_docs, reason = "the names are those of the contract")]

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::service::{api::Uuid, schema::OR_TYPE};

// The config of a player or a slot. No doc comment, because it would become part of the descriptions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetDeploymentConfig {
    /// From `list_deployment_configs`.
    pub deployment_config_id: Uuid,
    /// From `list_builds`.
    pub build_id: Option<Uuid>,
}

// Overrides for one run. No doc comment, because it would become part of the descriptions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunOptions {
    /// Records performance.
    pub performance_monitoring: Option<bool>,
    /// Grants app permissions.
    pub mobile_auto_grant_permissions: Option<bool>,
    /// Country, city or "city, state (US)".
    pub mobile_geolocation: Option<String>,
    /// `auto` (needs `mobile_geolocation`) or an object with texts `lat`, `long`.
    #[serde(default)]
    #[schemars(schema_with = "auto_or_position")]
    pub mobile_gpslocation: Option<Value>,
}

fn auto_or_position(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", OR_TYPE: "object"})
}
