//! Installers of Minions, the helper agents (specification, GET minions/download; supplement 14).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::service::operation::{Access, Effect, Operation, ResponseKind, Tier, Toolset, UrlBase};

/// Gets the address of the latest Minion installer: the helper agent on a test machine. Nothing is downloaded.
///
/// The address works without a key for a day.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetMinionDownload {
    pub platform: MinionPlatform,
}

// No doc comment: the argument says it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
pub enum MinionPlatform {
    #[serde(rename = "windows-x86_64")]
    Windows,
    #[serde(rename = "linux-x86_64")]
    Linux,
    #[serde(rename = "darwin-aarch64")]
    Darwin,
}

impl Operation for GetMinionDownload {
    const NAME: &'static str = "get_minion_download";
    const TITLE: &'static str = "Get the Minion installer's address";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/minions/download";
    const PLACE: UrlBase = UrlBase::Base;
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Minions;
    const TIER: Tier = Tier::Core;
    const ACCESS: Access = Access::Permission("project:manage-minions");
    const FORM: ResponseKind = ResponseKind::Redirect;
    type Output = Installer;
}

/// Where an installer lies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Installer {
    pub download_url: String,
    /// ISO 8601.
    pub expires_at: String,
}
