//! The builds of a project and their storage.

use crate::{
    sandbox::model::{dialect::Dialect, moment::Moment, project::Project},
    service::api::uploads::DeletionPolicy,
};

impl Project {
    /// Returns the bytes of builds, including those that uploads have reserved.
    pub(crate) fn used_storage(&self) -> u64 {
        let builds = self.builds.values().map(|build| build.file_size);
        let reserved = self.storage.uploads.values().map(|upload| upload.build.file_size);
        builds.chain(reserved).fold(0, u64::saturating_add)
    }

    /// Deletes builds until `needed` bytes fit. Deletes nothing if they cannot fit. Pinned builds are
    /// kept (service.md 10.1).
    pub(crate) fn make_room(&mut self, needed: u64, policy: DeletionPolicy) {
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

        // Nothing is deleted if the upload would fail all the same.
        if missing == 0 {
            for build in chosen {
                self.delete_build(&build);
            }
        }
    }

    /// Removes a build and its bytes. Runs of the build keep its record.
    pub(crate) fn delete_build(&mut self, id: &str) {
        self.storage.contents.remove(id);
        self.builds.shift_remove(id);
    }

    /// Returns the status of a build that can be started.
    pub(crate) fn ready_status(&self) -> &'static str {
        match self.dialect {
            Dialect::Upper => "OK",
            Dialect::Lower => "ready",
        }
    }

    /// Returns when the latest job with `build` was created.
    pub(crate) fn last_use(&self, build: &str) -> Option<Moment> {
        let uses = self.jobs.values().filter(|job| {
            job.player_devices
                .iter()
                .any(|player_device| player_device.build.as_ref().is_some_and(|used| used.id == build))
        });
        uses.map(|job| job.created).max()
    }
}
