//! Builds in build storage (service.md 10).

use crate::{sandbox::model::moment::Moment, service::api::Open};

/// A build in build storage.
#[derive(Debug)]
pub(crate) struct StoredBuild {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) file_name: String,
    pub(crate) file_size: u64,
    pub(crate) status: String,
    pub(crate) pinned: bool,
    pub(crate) sdk: bool,
    pub(crate) tags: Vec<String>,
    pub(crate) created: Moment,
    pub(crate) description: Option<String>,
    pub(crate) details: Option<Open>,
}
