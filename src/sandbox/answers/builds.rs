//! Builds in build storage: reading, deletion, and uploads with their start, part addresses, completion and cancellation
//! (service.md 10).

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::json;

use super::prelude::*;

use super::files::{self, STORAGE_PREFIX};
use crate::sandbox::model::builds::{Blob, MultipartLayout, PendingUpload, StoredBuild};
use crate::service::api::builds::{Build, BuildDetail, DeleteBuild, DeletedBuild, GetBuild, ListBuilds};
use crate::service::api::uploads::{
    CancelBuildUpload, CancelledUpload, CompleteBuildUpload, CompletedPart, CompletedUpload,
    GetBuildUploadParts, InitiateBuildUpload, InitiatedUpload, PartUrl, UploadPartUrls,
};

pub(crate) const NOT_FOUND: &str = "build not found";

/// Size from which a file is uploaded in parts by default, and must be, in bytes (service.md 10.4).
const MIN_MULTIPART_SIZE: u64 = 3_000_000_000;

/// Maximum size of a file, in bytes (service.md 10.4).
const MAX_FILE_SIZE: u64 = 5_000_000_000_000;

/// Maximum number of parts. A file that would have more parts gets larger parts, as on storage hosts.
const MAX_PARTS: u64 = 10_000;

/// How long an upload address is valid, in seconds (service.md 10.5).
const VALIDITY_S: u32 = 60 * 60;

const UPLOAD_NOT_FOUND: &str = "Upload not found";

impl StoredBuild {
    fn to_record(&self, project: &Project) -> Build {
        Build {
            id: self.id.clone(),
            name: self.name.clone(),
            platform: self.platform.clone(),
            file_name: self.file_name.clone(),
            status: self.status.clone(),
            file_size: self.file_size,
            pinned: self.pinned,
            sdk: self.sdk,
            tags: self.tags.clone(),
            created_at: self.created.to_string(),
            last_used: project.last_use(&self.id).map(|at| at.to_string()),
            description: self.description.clone(),
        }
    }

    fn matches(&self, request: &ListBuilds) -> bool {
        request.pinned.is_none_or(|pinned| pinned == self.pinned)
            && request.sdk.is_none_or(|sdk| sdk == self.sdk)
            && matches_id(request.status.as_deref(), Some(&self.status))
            && matches_id(request.platform.map(wire_name).as_deref(), Some(&self.platform))
            && has_all_tags(&self.tags, request.tags.as_deref())
    }
}

impl Answer<ListBuilds> for World {
    fn answer(&mut self, request: ListBuilds, caller: &Caller) -> AnswerResult<ListPage<Build>> {
        let project = self.project(caller)?;
        let matching = project.builds.values().filter(|build| build.matches(&request));
        let builds = newest_first(matching, |build| build.created);

        Ok(page(builds, request.page, request.page_size, |build| build.to_record(project)).into())
    }
}

impl Answer<GetBuild> for World {
    fn answer(&mut self, request: GetBuild, caller: &Caller) -> AnswerResult<BuildDetail> {
        let project = self.project(caller)?;
        let build = existing(&project.builds, &request.build_id.0, NOT_FOUND)?;

        Ok(BuildDetail { build: build.to_record(project), details: build.details.clone() }.into())
    }
}

impl Answer<DeleteBuild> for World {
    fn answer(&mut self, request: DeleteBuild, caller: &Caller) -> AnswerResult<DeletedBuild> {
        let project = self.project_mut(caller)?;
        let id = existing(&project.builds, &request.build_id.0, NOT_FOUND)?.id.clone();
        // Runs of the build keep its record.
        project.storage.contents.remove(&id);
        project.builds.shift_remove(&id);

        Ok(DeletedBuild { message: "build deleted successfully".to_owned() }.into())
    }
}

impl Answer<InitiateBuildUpload> for World {
    fn answer(&mut self, request: InitiateBuildUpload, caller: &Caller) -> AnswerResult<InitiatedUpload> {
        check_project(request.project_id.as_deref(), caller)?;
        let is_multipart = request.multipart.unwrap_or(true);
        if request.file.file_size > MAX_FILE_SIZE
            || (!is_multipart && request.file.file_size >= MIN_MULTIPART_SIZE)
        {
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "File too large"));
        }

        let upload = self.new_upload(request, caller, is_multipart);
        let record = self.upload_record(&upload);

        self.project_mut(caller)?.storage.uploads.insert(upload.build.id.clone(), upload);

        Ok(record.into())
    }
}

/// Checks the project of the body, which the service requires in addition to the path (service.md 10.4).
fn check_project(named: Option<&str>, caller: &Caller) -> Result<(), ApiError> {
    match named {
        Some(named) if named == caller.project => Ok(()),
        Some(_) => Err(ApiError::invalid("invalid request: project_id: must be the project of the path")),
        None => Err(ApiError::invalid("invalid request: project_id: Required")),
    }
}

impl World {
    fn new_upload(
        &mut self,
        request: InitiateBuildUpload,
        caller: &Caller,
        is_multipart: bool,
    ) -> PendingUpload {
        let id = self.ids.uuid();
        let object_key = format!("{}/builds/{id}/{}", caller.project, request.file.file_name);
        let multipart = is_multipart.then(|| {
            let part_size = self.part_size.max(request.file.file_size.div_ceil(MAX_PARTS));
            let total_parts = request.file.file_size.div_ceil(part_size);
            MultipartLayout { upload_id: format!("upl_{}", self.ids.run()), part_size, total_parts }
        });
        let minutes = request.upload_timeout.unwrap_or(if is_multipart { 60 } else { 10 });
        let ends = self.now + Millis::from(minutes) * 60_000;

        PendingUpload {
            build: uploaded_build(request, id, self.now),
            object_key,
            multipart,
            ends,
            parts: [].into(),
        }
    }

    fn upload_record(&self, upload: &PendingUpload) -> InitiatedUpload {
        let kind = if upload.multipart.is_some() { "multipart" } else { "single-part" };
        let common = InitiatedUpload {
            build_id: upload.build.id.clone(),
            object_key: upload.object_key.clone(),
            upload_type: Some(kind.to_owned()),
            ..InitiatedUpload::default()
        };

        match &upload.multipart {
            Some(MultipartLayout { upload_id, part_size, total_parts }) => InitiatedUpload {
                upload_id: Some(upload_id.clone()),
                total_parts: Some(*total_parts),
                part_size: Some(*part_size),
                ..common
            },
            None => InitiatedUpload { upload_url: Some(self.upload_url(&upload.build.id, "file")), ..common },
        }
    }

    fn upload_url(&self, build: &str, what: &str) -> String {
        let address = format!("{}{}/builds/{build}/{what}", self.knowledge_url, STORAGE_PREFIX);
        files::sign(&address, self.now, VALIDITY_S)
    }
}

fn uploaded_build(request: InitiateBuildUpload, id: String, now: Moment) -> StoredBuild {
    StoredBuild {
        id,
        name: request.name,
        platform: wire_name(request.platform),
        file_name: request.file.file_name,
        file_size: request.file.file_size,
        status: "uploading".to_owned(),
        pinned: false,
        sdk: false,
        tags: request.options.tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect(),
        created: now,
        description: request.options.description,
        details: request.options.details,
    }
}

impl Answer<GetBuildUploadParts> for World {
    fn answer(&mut self, request: GetBuildUploadParts, caller: &Caller) -> AnswerResult<UploadPartUrls> {
        // This operation has no 404 and no 403, because it takes no key (service.md 10.5).
        let unknown = || ApiError::invalid(UPLOAD_NOT_FOUND);
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
    fn answer(&mut self, request: CompleteBuildUpload, caller: &Caller) -> AnswerResult<CompletedUpload> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        let upload = find(&project.storage.uploads, &request.build_id).ok_or_else(no_upload)?;
        if upload.multipart.is_some() && request.upload_id.is_none() {
            return Err(ApiError::invalid(
                "upload_id, object_key and parts are required: the upload is multipart",
            ));
        }
        if !upload.matches(request.object_key.as_deref(), request.upload_id.as_deref()) {
            return Err(no_upload());
        }

        let status = match request.parts.as_deref() {
            Some(parts) => check_parts(upload, parts).map(|()| None),
            None => match upload.parts.get(&1) {
                Some(file) => check_size("the file", file, upload.build.file_size),
                None => Err("the file has not been uploaded".to_owned()),
            }
            .map(|()| Some("success".to_owned())),
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
    fn finish(&mut self, upload: PendingUpload, now: Moment) {
        let PendingUpload { build, parts, .. } = upload;
        let build = StoredBuild { status: "OK".to_owned(), created: now, ..build };
        self.storage.contents.insert(build.id.clone(), parts.into_values().collect());
        self.builds.insert(build.id.clone(), Arc::new(build));
    }
}

impl Answer<CancelBuildUpload> for World {
    fn answer(&mut self, request: CancelBuildUpload, caller: &Caller) -> AnswerResult<CancelledUpload> {
        let uploads = &mut self.project_mut(caller)?.storage.uploads;
        let upload_id = request.upload_id.as_ref().map(|id| id.0.as_str());
        let upload = find(uploads, &request.build_id.0)
            .filter(|upload| upload.matches(Some(&request.object_key.0), upload_id))
            .ok_or_else(no_upload)?;
        let id = upload.build.id.clone();

        uploads.shift_remove(&id);

        Ok(CancelledUpload { success: true }.into())
    }
}

fn no_upload() -> ApiError {
    let body = json!({"error": UPLOAD_NOT_FOUND, "code": "UPLOAD_NOT_FOUND"});
    ApiError { status: StatusCode::NOT_FOUND, body }
}

/// Checks that `parts` are exactly the parts of the upload and that all bytes have arrived. A rule of the operation
/// checks their order.
fn check_parts(upload: &PendingUpload, parts: &[CompletedPart]) -> Result<(), String> {
    let Some(MultipartLayout { part_size, total_parts, .. }) = upload.multipart.as_ref() else {
        return Ok(());
    };
    if parts.len() as u64 != *total_parts {
        return Err(format!("{} parts are named, the upload has {total_parts}", parts.len()));
    }

    for CompletedPart { part_number, etag } in parts {
        let part = format!("part {part_number}");
        let Some(piece) = upload.parts.get(part_number) else {
            return Err(format!("{part} has not been uploaded"));
        };
        // The service takes an `ETag` with or without quotes (service.md 10.7).
        if etag.trim_matches('"') != piece.etag {
            return Err(format!("{part}: the etag is not that of what was uploaded"));
        }

        // The last part contains the rest of the file.
        let earlier = part_size.saturating_mul(part_number - 1);
        check_size(&part, piece, (*part_size).min(upload.build.file_size.saturating_sub(earlier)))?;
    }

    Ok(())
}

fn check_size(what: &str, piece: &Blob, expected: u64) -> Result<(), String> {
    if piece.size == expected {
        return Ok(());
    }
    Err(format!("{what} has {} bytes instead of {expected}", piece.size))
}
