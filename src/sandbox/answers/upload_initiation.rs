//! Starts of build uploads (service.md 10.4).

use http::StatusCode;
use serde_json::json;

use crate::{
    sandbox::{
        answers::{
            answer::Answer, answered::Answered, api_error::ApiError, caller::Caller, filters::wire_name,
            presigned_url,
        },
        model::{
            build::StoredBuild,
            dialect::Dialect,
            moment::{Millis, Moment},
            pending_upload::{MultipartLayout, PendingUpload},
            project::Project,
            world::World,
        },
    },
    service::api::uploads::{DeletionPolicy, InitiateBuildUpload, InitiatedUpload},
};

/// Size from which a file is uploaded in parts by default, and must be, in bytes (service.md 10.4).
const MIN_MULTIPART_SIZE: u64 = 3_000_000_000;

/// Maximum size of a file, in bytes (service.md 10.4).
const MAX_FILE_SIZE: u64 = 5_000_000_000_000;

/// Maximum number of parts. A file that would have more parts gets larger parts, as on storage hosts.
const MAX_PARTS: u64 = 10_000;

/// How long an upload address is valid, in seconds (service.md 10.5).
const VALIDITY_S: u32 = 60 * 60;

impl Answer<InitiateBuildUpload> for World {
    fn answer(
        &mut self,
        request: InitiateBuildUpload,
        caller: &Caller,
    ) -> Result<Answered<InitiatedUpload>, ApiError> {
        check_project(request.project_id.as_deref(), caller)?;
        let is_multipart = request.multipart.unwrap_or(request.file.file_size >= MIN_MULTIPART_SIZE);
        if request.file.file_size > MAX_FILE_SIZE
            || (!is_multipart && request.file.file_size >= MIN_MULTIPART_SIZE)
        {
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "File too large"));
        }

        let policy = request.options.deletion_policy.unwrap_or(DeletionPolicy::LeastRecent);
        let project = self.project_mut(caller)?;

        // Old builds are deleted before the quota is checked, because their space counts.
        if request.options.auto_delete == Some(true) {
            project.make_room(request.file.file_size, policy);
        }

        check_quota(project, request.file.file_size)?;
        let upload = self.new_upload(request, caller, is_multipart);
        let record = self.upload_record(&upload, caller)?;

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

fn check_quota(project: &Project, needed: u64) -> Result<(), ApiError> {
    let (used, capacity) = (project.used_storage(), project.storage.capacity);
    if used.saturating_add(needed) <= capacity {
        return Ok(());
    }

    let details = json!({"used": used, "capacity": capacity, "needed": needed});
    let body = json!({"error": "Storage capacity exceeded", "code": "QUOTA_EXCEEDED", "details": details});

    Err(ApiError { status: StatusCode::PAYMENT_REQUIRED, body })
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

        PendingUpload { build: build(request, id, self.now), object_key, multipart, ends, parts: [].into() }
    }

    /// Returns the record of a new upload. The lower dialect omits `upload_type` of multipart uploads
    /// (service.md 10.4).
    fn upload_record(&self, upload: &PendingUpload, caller: &Caller) -> Result<InitiatedUpload, ApiError> {
        let has_type = self.project(caller)?.dialect == Dialect::Upper;
        let kind = if upload.multipart.is_some() { "multipart" } else { "single-part" };
        let common = InitiatedUpload {
            build_id: upload.build.id.clone(),
            object_key: upload.object_key.clone(),
            upload_type: (has_type || upload.multipart.is_none()).then(|| kind.to_owned()),
            ..InitiatedUpload::default()
        };

        Ok(match &upload.multipart {
            Some(MultipartLayout { upload_id, part_size, total_parts }) => InitiatedUpload {
                upload_id: Some(upload_id.clone()),
                total_parts: Some(*total_parts),
                part_size: Some(*part_size),
                ..common
            },
            None => InitiatedUpload { upload_url: Some(self.upload_url(&upload.build.id, "file")), ..common },
        })
    }

    /// Returns a presigned address for a file or a part.
    pub(super) fn upload_url(&self, build: &str, what: &str) -> String {
        let address =
            format!("{}{}/builds/{build}/{what}", self.knowledge_url, presigned_url::STORAGE_PREFIX);
        presigned_url::sign(&address, self.now, VALIDITY_S)
    }
}

/// Returns the build that the upload creates.
fn build(request: InitiateBuildUpload, id: String, now: Moment) -> StoredBuild {
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
