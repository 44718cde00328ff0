//! Uploads of builds that are not complete.

use std::{collections::BTreeMap, sync::Arc};

use crate::sandbox::model::{blob_store::Blob, build::StoredBuild, moment::Moment};

/// An upload that is not complete.
#[derive(Debug)]
pub(crate) struct PendingUpload {
    /// The build that the upload creates.
    pub(crate) build: StoredBuild,
    pub(crate) object_key: String,
    /// `None`: a single-part upload.
    pub(crate) multipart: Option<MultipartLayout>,
    /// When the upload expires.
    pub(crate) ends: Moment,
    /// The parts that have arrived, by number. The file of a single-part upload has number 1.
    pub(crate) parts: BTreeMap<u64, Arc<Blob>>,
}

/// How a file is divided into parts.
#[derive(Debug)]
pub(crate) struct MultipartLayout {
    pub(crate) upload_id: String,
    pub(crate) part_size: u64,
    pub(crate) total_parts: u64,
}

impl PendingUpload {
    /// Returns whether a request refers to this upload. A request without an `object_key` matches any key.
    pub(crate) fn matches(&self, object_key: Option<&str>, upload_id: Option<&str>) -> bool {
        let multipart = self.multipart.as_ref().map(|multipart| multipart.upload_id.as_str());
        multipart == upload_id && object_key.is_none_or(|key| key == self.object_key)
    }

    /// Returns the number of bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.parts.values().map(|piece| piece.size).sum()
    }
}
