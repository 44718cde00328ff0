//! Sources of downloads.

use crate::{
    call::gateway::{Artifact, Gateway, OpenRefusal},
    client::{DownloadStream, ResumeFrom},
};

/// A file of the service that can be opened repeatedly.
pub(super) trait DownloadSource: Sync {
    /// Opens the file at the position `resume_from`. Sends one request.
    fn open(
        &self,
        resume_from: &ResumeFrom,
    ) -> impl Future<Output = Result<DownloadStream, OpenRefusal>> + Send;
}

/// A file of a player.
pub(super) struct ArtifactSource {
    pub(super) gateway: Gateway,
    pub(super) artifact: Artifact,
}

impl DownloadSource for ArtifactSource {
    async fn open(&self, resume_from: &ResumeFrom) -> Result<DownloadStream, OpenRefusal> {
        self.gateway.open(&self.artifact, resume_from).await
    }
}
