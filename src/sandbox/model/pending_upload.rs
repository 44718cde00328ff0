//! Uploads of builds that are not complete.

use std::{collections::BTreeMap, sync::Arc};

use crate::sandbox::model::{blob_store::Blob, build::Build, moment::Moment};

/// An upload that is not complete.
#[derive(Debug)]
pub(crate) struct PendingUpload {
    /// The build as it will be.
    pub(crate) build: Build,
    pub(crate) object_key: String,
    /// Multipart only.
    pub(crate) multipart: Option<MultipartLayout>,
    /// When it times out.
    pub(crate) ends: Moment,
    /// What has arrived, by number; a single-part upload has the number 1.
    pub(crate) parts: BTreeMap<u64, Arc<Blob>>,
}

/// How a file is divided.
#[derive(Debug)]
pub(crate) struct MultipartLayout {
    pub(crate) upload_id: String,
    pub(crate) part_size: u64,
    pub(crate) total_parts: u64,
}

impl PendingUpload {
    /// Whether a request means this upload. An `object_key` may be left out where it is not needed.
    pub(crate) fn matches(&self, object_key: Option<&str>, upload_id: Option<&str>) -> bool {
        let multipart = self.multipart.as_ref().map(|multipart| multipart.upload_id.as_str());
        multipart == upload_id && object_key.is_none_or(|key| key == self.object_key)
    }

    /// Bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.parts.values().map(|piece| piece.size).sum()
    }
}
