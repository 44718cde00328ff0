//! Part addresses, completion and cancellation of build uploads (service.md 10.5 to 10.7).

use std::sync::Arc;

use http::StatusCode;
use serde_json::json;

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            upload_checks::{check_file, check_parts},
        },
        model::{
            build::StoredBuild, moment::Moment, pending_upload::PendingUpload, project::Project,
            records::find, world::World,
        },
    },
    service::api::uploads::{
        CancelBuildUpload, CancelledUpload, CompleteBuildUpload, CompletedUpload, GetBuildUploadParts,
        PartUrl, UploadPartUrls,
    },
};

/// Error text of the service for an unknown upload.
const NOT_FOUND: &str = "Upload not found";

impl Answer<GetBuildUploadParts> for World {
    fn answer(
        &mut self,
        request: GetBuildUploadParts,
        caller: &Caller,
    ) -> Result<Answered<UploadPartUrls>, ApiError> {
        // This operation has no 404 and no 403, because it takes no key (service.md 10.5).
        let unknown = || ApiError::invalid(NOT_FOUND);
        let uploads = &self.project(caller).map_err(|_| unknown())?.storage.uploads;
        let is_requested =
            |upload: &&PendingUpload| upload.matches(Some(&request.object_key.0), Some(&request.upload_id.0));
        let upload = uploads.values().find(is_requested).ok_or_else(unknown)?;
        let total = upload.multipart.as_ref().map_or(0, |multipart| multipart.total_parts);
        if let Some(number) = request.part_numbers.iter().find(|number| **number > total) {
            return Err(ApiError::invalid(format!(
                "invalid part_numbers: {number}: the upload has {total} parts"
            )));
        }

        let url = |number: &u64| PartUrl {
            part_number: *number,
            url: self.upload_url(&upload.build.id, &format!("parts/{}/{number}", request.upload_id.0)),
        };

        Ok(UploadPartUrls { upload_urls: request.part_numbers.iter().map(url).collect() }.into())
    }
}

impl Answer<CompleteBuildUpload> for World {
    fn answer(
        &mut self,
        request: CompleteBuildUpload,
        caller: &Caller,
    ) -> Result<Answered<CompletedUpload>, ApiError> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        let upload = find(&project.storage.uploads, &request.build_id).ok_or_else(not_found)?;
        if upload.multipart.is_some() && request.upload_id.is_none() {
            return Err(ApiError::invalid(
                "upload_id, object_key and parts are required: the upload is multipart",
            ));
        }
        if !upload.matches(request.object_key.as_deref(), request.upload_id.as_deref()) {
            return Err(not_found());
        }

        let status = match request.parts.as_deref() {
            Some(parts) => check_parts(upload, parts).map(|()| None),
            None => check_file(upload).map(|()| Some("success".to_owned())),
        }
        .map_err(ApiError::invalid)?;
        // A multipart upload answers with the build id, a single-part upload with a status (service.md 10.7).
        let build_id = status.is_none().then(|| upload.build.id.clone());
        let id = upload.build.id.clone();

        if let Some(upload) = project.storage.uploads.shift_remove(&id) {
            project.finish(upload, now);
        }

        Ok(CompletedUpload { build_id, status }.into())
    }
}

impl Project {
    /// Creates the build of a complete upload.
    fn finish(&mut self, upload: PendingUpload, now: Moment) {
        let PendingUpload { build, parts, .. } = upload;
        let build = StoredBuild { status: self.ready_status().to_owned(), created: now, ..build };
        self.storage.contents.insert(build.id.clone(), parts.into_values().collect());
        self.builds.insert(build.id.clone(), Arc::new(build));
    }
}

impl Answer<CancelBuildUpload> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(NOT_FOUND);

    fn answer(
        &mut self,
        request: CancelBuildUpload,
        caller: &Caller,
    ) -> Result<Answered<CancelledUpload>, ApiError> {
        let uploads = &mut self.project_mut(caller)?.storage.uploads;
        let upload_id = request.upload_id.as_ref().map(|id| id.0.as_str());
        let upload = find(uploads, &request.build_id.0)
            .filter(|upload| upload.matches(Some(&request.object_key.0), upload_id))
            .ok_or_else(not_found)?;
        let id = upload.build.id.clone();

        uploads.shift_remove(&id);

        Ok(CancelledUpload { success: true }.into())
    }
}

fn not_found() -> ApiError {
    let body = json!({"error": NOT_FOUND, "code": "UPLOAD_NOT_FOUND"});
    ApiError { status: StatusCode::NOT_FOUND, body }
}
