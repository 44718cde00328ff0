//! An upload that is open at the service.

use super::{
    journal::{PartEtags, UploadJournal},
    plan::UploadPlan,
};

/// An upload at the service, new or resumed.
pub(super) struct OpenUpload {
    pub(super) plan: UploadPlan,
    /// `ETag`s of the parts that the storage host has.
    pub(super) etags: PartEtags,
    pub(super) journal: Option<UploadJournal>,
    pub(super) stage: UploadStage,
}

/// State of an upload at the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UploadStage {
    /// The service waits for parts or for the completion.
    Initiated,
    /// The upload was cancelled, and no other upload was initiated in its place.
    Cancelled,
    /// The upload has become a build.
    Built,
}
