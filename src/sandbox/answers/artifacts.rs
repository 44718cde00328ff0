//! Artifacts of runs, on the knowledge host (service.md 12).

use http::{HeaderValue, StatusCode};

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            artifact_file::ArtifactFile,
            artifact_files::{STORAGE_TYPE, artifact_url},
            caller::Caller,
            presigned_url::{self, STORAGE_PREFIX},
            run_view::RUN_NOT_FOUND,
        },
        model::world::World,
    },
    service::api::artifacts::{ArtifactListing, ArtifactPart, GetRunArtifact, ListRunArtifacts, RunArtifact},
};

/// Error text of the service for an unknown file.
const NOT_FOUND: &str = "artifact not found";

/// How long the address of a large file is valid, in seconds.
const VALIDITY_S: u32 = 60 * 60;

impl Answer<ListRunArtifacts> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(RUN_NOT_FOUND);

    fn answer(
        &mut self,
        request: ListRunArtifacts,
        caller: &Caller,
    ) -> Result<Answered<ArtifactListing>, ApiError> {
        let player = request.run_id.0;
        let (files, uploaded) = self.player_files(self.project(caller)?, &player)?;
        let record = |file: ArtifactFile| RunArtifact {
            filename: file.name.to_owned(),
            url: artifact_url(&self.knowledge_url, &player, file.name),
            size: file.content.size(),
            uploaded: uploaded.clone(),
            etag: file.etag,
        };

        let artifacts: Vec<_> = files.into_iter().map(record).collect();
        // The service omits the run id and the count if there are no artifacts (service.md 1.7).
        let count = Some(artifacts.len()).filter(|count| *count > 0);

        Ok(ArtifactListing { run_id: count.map(|_| player), count, artifacts }.into())
    }
}

impl Answer<GetRunArtifact> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(NOT_FOUND);

    fn answer(
        &mut self,
        request: GetRunArtifact,
        caller: &Caller,
    ) -> Result<Answered<ArtifactPart>, ApiError> {
        let (files, _) = self.player_files(self.project(caller)?, &request.run_id.0)?;
        let file = files.into_iter().find(|file| file.name == request.filename.0);
        let file = file.ok_or_else(|| ApiError::not_found(NOT_FOUND))?;

        if file.content_type != STORAGE_TYPE || file.is_cached_by(&caller.conditions) {
            return Ok(Answered::file(file.read(&caller.conditions)));
        }

        // Large media are a redirect to a presigned address (service.md 12.2).
        let path = format!("{STORAGE_PREFIX}/artifacts/{}/{}", request.run_id.0, file.name);
        let address = presigned_url::sign(&format!("{}{path}", self.knowledge_url), self.now, VALIDITY_S);
        let location = HeaderValue::from_str(&address).map_err(|error| ApiError::internal(&error))?;

        Ok(Answered::redirect(StatusCode::FOUND, location))
    }
}
