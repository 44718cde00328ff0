//! Uploads of builds: initiation, addresses of the parts, parallel transfer of the parts, completion (specification,
//! Multipart build upload; supplement 10).
//!
//! Memory use does not depend on the size of the file. An upload that fails is cancelled at the service; an upload whose
//! process was killed is resumed from its journal.

mod background;
mod cancellation;
mod completion;
mod file_digest;
mod file_services;
mod finished_upload;
mod initiation;
mod job;
mod journal;
mod open_upload;
mod part_addresses;
mod part_body;
mod part_uploader;
mod parts;
mod plan;
mod platform;
mod progress;
pub mod provenance;
mod remote;
mod request;
mod session;
mod source_file;
mod start;
mod timing;
mod upload_ids;

pub(crate) use background::BackgroundUploads;
pub use file_services::{FileServices, FilesConfig};
pub use finished_upload::{FinishedUpload, UploadedBuild};
pub(crate) use initiation::{UploadMethod, platform_violation};
pub(crate) use job::UploadJob;
pub use platform::platform_from_file_name;
pub(crate) use progress::UploadProgress;
pub(crate) use remote::RemoteUpload;
pub use remote::{PartAddress, RemoteUploadAnswer};
pub(crate) use request::{UploadHandle, UploadRequest};
pub use timing::UploadTiming;
pub use upload_ids::UploadIds;
