//! The storage of a project's builds: its capacity, its unfinished uploads and the bytes of its builds.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;

use crate::sandbox::model::{blob_store::Blob, moment::Moment, pending_upload::PendingUpload};

/// Default capacity of a project, in bytes.
const CAPACITY: u64 = 10_000_000_000_000;

/// The storage of one project.
#[derive(Debug)]
pub(crate) struct BuildStorage {
    /// Capacity in bytes.
    pub(crate) capacity: u64,
    /// Unfinished uploads by build id.
    pub(crate) uploads: IndexMap<String, PendingUpload>,
    /// The bytes of uploaded builds by build id, in order.
    pub(crate) contents: BTreeMap<String, Vec<Arc<Blob>>>,
}

impl Default for BuildStorage {
    fn default() -> Self {
        Self { capacity: CAPACITY, uploads: IndexMap::new(), contents: BTreeMap::new() }
    }
}

impl BuildStorage {
    /// Removes the uploads that have expired, with their parts and their reserved space.
    pub(super) fn end_expired(&mut self, now: Moment) {
        self.uploads.retain(|_, upload| now < upload.ends);
    }
}
