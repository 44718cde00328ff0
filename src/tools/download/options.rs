//! Options of downloads: attempts, and how bytes are written.

use std::{fmt, fs::File, io, sync::Arc, time::Duration};

use crate::backoff::Backoff;

/// Options of downloads. Programs use the default; tests use shorter pauses and failing disks.
#[derive(Clone, Debug)]
pub struct DownloadOptions {
    /// Pauses between attempts.
    pub backoff: Backoff,
    /// Maximum number of successive attempts without progress, including the first.
    pub attempts: u32,
    /// Largest file that is saved if neither the list of files nor the answer states its size, in bytes. An endless answer
    /// would fill the disk.
    pub max_unsized_bytes: u64,
    /// Writes the bytes.
    pub disk: Arc<dyn Disk>,
}

impl Default for DownloadOptions {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(4), 2.5),
            attempts: 5,
            max_unsized_bytes: 1 << 30,
            disk: Arc::new(SystemDisk),
        }
    }
}

impl DownloadOptions {
    /// Returns the pauses between successive attempts without progress.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        self.backoff.pauses().take(self.attempts.saturating_sub(1) as usize)
    }
}

/// Writes downloaded bytes to files.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Writes all bytes.
    ///
    /// # Errors
    /// The error of the file system.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;

    /// Waits until the written bytes are stored permanently.
    ///
    /// # Errors
    /// The error of the file system.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug)]
struct SystemDisk;

impl Disk for SystemDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        io::Write::write_all(file, bytes)
    }
}
