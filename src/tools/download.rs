//! Downloads of files to the local disk: the files of a run, and installers.
//!
//! A file is first written under a temporary name and gets its own name when it is complete. The next call continues an
//! interrupted download. File names that the service chooses are used unchanged or refused, and nothing is written outside
//! the destination.

mod existing_file;
mod file_ref;
mod installer;
mod installer_source;
mod job;
mod options;
mod partial_file;
mod plan;
mod progress;
mod report;
mod request;
mod run_listing;
mod source;
mod target;
mod transfer;
mod transfer_context;

pub use installer::{InstallerRequest, SavedInstaller};
pub use options::{Disk, DownloadOptions};
pub use report::{DownloadReport, FailedFile, SavedFile};
pub use request::{DownloadRequest, RequestedFile};
