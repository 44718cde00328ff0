//! The storage of a project's builds: its capacity, the uploads under way and the bytes of finished builds.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;

use super::{builds::Build, clock::Moment, depot::Piece, project::Project};
use crate::service::api::uploads::DeletionPolicy;

/// Bytes that a project may store unless it says otherwise.
const CAPACITY: u64 = 10_000_000_000_000;

/// The storage of one project.
#[derive(Debug)]
pub(super) struct BuildStorage {
    /// In bytes.
    pub(super) capacity: u64,
    /// Unfinished uploads by build id.
    pub(super) uploads: IndexMap<String, Upload>,
    /// The bytes of uploaded builds by build id, in order.
    pub(super) contents: BTreeMap<String, Vec<Arc<Piece>>>,
}

impl Default for BuildStorage {
    fn default() -> Self {
        Self { capacity: CAPACITY, uploads: IndexMap::new(), contents: BTreeMap::new() }
    }
}

impl BuildStorage {
    /// Ends the uploads whose time has passed: space and parts go with them.
    pub(super) fn end_late(&mut self, now: Moment) {
        self.uploads.retain(|_, upload| now < upload.ends);
    }
}

/// An upload that is not complete.
#[derive(Debug)]
pub(super) struct Upload {
    /// The build as it will be.
    pub(super) build: Build,
    pub(super) object_key: String,
    /// Multipart only.
    pub(super) multipart: Option<Multipart>,
    /// When it times out.
    pub(super) ends: Moment,
    /// What has arrived, by number; a single-part upload has the number 1.
    pub(super) pieces: BTreeMap<u64, Arc<Piece>>,
}

/// How a file is divided.
#[derive(Debug)]
pub(super) struct Multipart {
    pub(super) upload_id: String,
    pub(super) part_size: u64,
    pub(super) total_parts: u64,
}

impl Upload {
    /// Whether a request means this upload. An `object_key` may be left out where it is not needed.
    pub(super) fn is(&self, object_key: Option<&str>, upload_id: Option<&str>) -> bool {
        let multipart = self.multipart.as_ref().map(|multipart| multipart.upload_id.as_str());
        multipart == upload_id && object_key.is_none_or(|key| key == self.object_key)
    }

    /// Bytes that have arrived.
    pub(super) fn received(&self) -> u64 {
        self.pieces.values().map(|piece| piece.size).sum()
    }
}

impl Project {
    /// Bytes of builds, and those that uploads have reserved.
    pub(super) fn used_storage(&self) -> u64 {
        let builds = self.builds.values().map(|build| build.file_size);
        let reserved = self.storage.uploads.values().map(|upload| upload.build.file_size);
        builds.chain(reserved).fold(0, u64::saturating_add)
    }

    /// Deletes builds until so many bytes fit, if that is possible at all. Pinned builds stay (supplement 10.1).
    pub(super) fn make_room(&mut self, needed: u64, policy: DeletionPolicy) {
        let mut missing = self.used_storage().saturating_add(needed).saturating_sub(self.storage.capacity);
        let mut candidates: Vec<_> = self.builds.values().filter(|build| !build.pinned).collect();
        candidates.sort_by_key(|build| match policy {
            DeletionPolicy::Oldest => build.created,
            DeletionPolicy::LeastRecent => self.last_use(&build.id).unwrap_or(build.created),
        });

        let mut chosen = Vec::new();
        for build in candidates {
            if missing > 0 {
                missing = missing.saturating_sub(build.file_size);
                chosen.push(build.id.clone());
            }
        }

        if missing == 0 {
            for build in chosen {
                self.delete_build(&build);
            }
        }
    }

    /// Removes a build and its bytes. Runs that used it keep its record.
    pub(super) fn delete_build(&mut self, id: &str) {
        self.storage.contents.remove(id);
        self.builds.shift_remove(id);
    }
}
