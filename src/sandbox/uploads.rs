//! Uploading a build: initiate, addresses of parts, complete, cancel (specification, Multipart build upload; supplement
//! 10.4 to 10.7).

use std::sync::Arc;

use http::StatusCode;
use serde_json::json;

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    build_storage::{Multipart, Upload},
    builds::Build,
    clock::{Millis, Moment},
    depot::Piece,
    lists::word,
    presigned,
    project::{Dialect, Project, find},
    storage,
};
use crate::service::api::uploads::{
    BuildUpload, CancelBuildUpload, CancelledUpload, CompleteBuildUpload, CompletedPart, CompletedUpload,
    DeletionPolicy, GetBuildUploadParts, InitiateBuildUpload, PartUrl, UploadPartUrls,
};

/// From here on a file goes in parts (supplement 10.4).
const LEAST_MULTIPART: u64 = 3_000_000_000;

/// Largest file (supplement 10.4).
const LARGEST: u64 = 5_000_000_000_000;

/// Most parts of a file: the parts of larger ones are larger, as on storage hosts.
const MOST_PARTS: u64 = 10_000;

/// How long an address to PUT to is valid, in seconds (specification, Limits).
const VALIDITY_S: u32 = 60 * 60;

/// The text of the service for an upload that it does not know, or no longer.
const NOT_FOUND: &str = "Upload not found";

impl Answer<InitiateBuildUpload> for World {
    fn answer(
        &mut self,
        asked: InitiateBuildUpload,
        caller: &Caller,
    ) -> Result<Answered<BuildUpload>, Fault> {
        check_project(asked.project_id.as_deref(), caller)?;
        let in_parts = asked.multipart.unwrap_or(asked.file_size >= LEAST_MULTIPART);
        if asked.file_size > LARGEST || (!in_parts && asked.file_size >= LEAST_MULTIPART) {
            return Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "File too large"));
        }

        let policy = asked.options.deletion_policy.unwrap_or(DeletionPolicy::LeastRecent);
        let project = self.project_mut(caller)?;

        if asked.options.auto_delete == Some(true) {
            project.make_room(asked.file_size, policy);
        }

        check_quota(project, asked.file_size)?;
        let upload = self.upload_of(asked, caller, in_parts);
        let shown = self.shown(&upload, caller)?;

        self.project_mut(caller)?.storage.uploads.insert(upload.build.id.clone(), upload);

        Ok(shown.into())
    }
}

/// The specification has the project in the body too.
fn check_project(named: Option<&str>, caller: &Caller) -> Result<(), Fault> {
    match named {
        Some(named) if named == caller.project => Ok(()),
        Some(_) => Err(Fault::invalid("invalid request: project_id: must be the project of the path")),
        None => Err(Fault::invalid("invalid request: project_id: Required")),
    }
}

fn check_quota(project: &Project, needed: u64) -> Result<(), Fault> {
    let (used, capacity) = (project.used_storage(), project.storage.capacity);
    if used.saturating_add(needed) <= capacity {
        return Ok(());
    }

    let details = json!({"used": used, "capacity": capacity, "needed": needed});
    let body = json!({"error": "Storage capacity exceeded", "code": "QUOTA_EXCEEDED", "details": details});

    Err(Fault { status: StatusCode::PAYMENT_REQUIRED, body })
}

impl World {
    fn upload_of(&mut self, asked: InitiateBuildUpload, caller: &Caller, in_parts: bool) -> Upload {
        let id = self.ids.uuid();
        let object_key = format!("{}/builds/{id}/{}", caller.project, asked.file_name);
        let multipart = in_parts.then(|| {
            let part_size = self.part_size.max(asked.file_size.div_ceil(MOST_PARTS));
            let total_parts = asked.file_size.div_ceil(part_size);
            Multipart { upload_id: format!("upl_{}", self.ids.run()), part_size, total_parts }
        });
        let minutes = asked.options.upload_timeout.unwrap_or(if in_parts { 60 } else { 10 });
        let ends = self.now + Millis::from(minutes) * 60_000;

        Upload { build: build(asked, id, self.now), object_key, multipart, ends, pieces: [].into() }
    }

    /// The answer to an initiation. A project of the lower dialect answers as the specification does, without
    /// `upload_type`.
    fn shown(&self, upload: &Upload, caller: &Caller) -> Result<BuildUpload, Fault> {
        let says_type = self.project(caller)?.dialect == Dialect::Upper;
        let kind = if upload.multipart.is_some() { "multipart" } else { "single-part" };
        let begun = BuildUpload {
            build_id: upload.build.id.clone(),
            object_key: upload.object_key.clone(),
            upload_type: (says_type || upload.multipart.is_none()).then(|| kind.to_owned()),
            ..BuildUpload::default()
        };

        Ok(match &upload.multipart {
            Some(Multipart { upload_id, part_size, total_parts }) => BuildUpload {
                upload_id: Some(upload_id.clone()),
                total_parts: Some(*total_parts),
                part_size: Some(*part_size),
                ..begun
            },
            None => BuildUpload { upload_url: Some(self.address(&upload.build.id, "file")), ..begun },
        })
    }

    /// An address to PUT to.
    fn address(&self, build: &str, what: &str) -> String {
        let address = format!("{}{}/builds/{build}/{what}", self.knowledge_url, storage::PREFIX);
        presigned::sign(&address, self.now, VALIDITY_S)
    }
}

/// The build as it will be.
fn build(asked: InitiateBuildUpload, id: String, now: Moment) -> Build {
    Build {
        id,
        name: asked.name,
        platform: word(asked.platform),
        file_name: asked.file_name,
        file_size: asked.file_size,
        status: "uploading".to_owned(),
        pinned: false,
        sdk: false,
        tags: asked.options.tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect(),
        created: now,
        description: asked.options.description,
        details: asked.options.details,
    }
}

impl Answer<GetBuildUploadParts> for World {
    fn answer(
        &mut self,
        asked: GetBuildUploadParts,
        caller: &Caller,
    ) -> Result<Answered<UploadPartUrls>, Fault> {
        // There is no 404 here, and no 403.
        let unknown = || Fault::invalid(NOT_FOUND);
        let uploads = &self.project(caller).map_err(|_| unknown())?.storage.uploads;
        let is_meant = |upload: &&Upload| upload.is(Some(&asked.object_key.0), Some(&asked.upload_id.0));
        let upload = uploads.values().find(is_meant).ok_or_else(unknown)?;
        let total = upload.multipart.as_ref().map_or(0, |multipart| multipart.total_parts);
        if let Some(number) = asked.part_numbers.iter().find(|number| **number > total) {
            return Err(Fault::invalid(format!(
                "invalid part_numbers: {number}: the upload has {total} parts"
            )));
        }

        let url = |number: &u64| PartUrl {
            part_number: *number,
            url: self.address(&upload.build.id, &format!("parts/{}/{number}", asked.upload_id.0)),
        };

        Ok(UploadPartUrls { upload_urls: asked.part_numbers.iter().map(url).collect() }.into())
    }
}

impl Answer<CompleteBuildUpload> for World {
    fn answer(
        &mut self,
        asked: CompleteBuildUpload,
        caller: &Caller,
    ) -> Result<Answered<CompletedUpload>, Fault> {
        let now = self.now;
        let project = self.project_mut(caller)?;
        let upload = find(&project.storage.uploads, &asked.build_id).ok_or_else(not_found)?;
        if upload.multipart.is_some() && asked.upload_id.is_none() {
            return Err(Fault::invalid(
                "upload_id, object_key and parts are required: the upload is multipart",
            ));
        }
        if !upload.is(asked.object_key.as_deref(), asked.upload_id.as_deref()) {
            return Err(not_found());
        }

        let status = match asked.parts.as_deref() {
            Some(parts) => check_parts(upload, parts).map(|()| None),
            None => check_file(upload).map(|()| Some("success".to_owned())),
        }
        .map_err(Fault::invalid)?;
        let build_id = status.is_none().then(|| upload.build.id.clone());
        let id = upload.build.id.clone();

        if let Some(upload) = project.storage.uploads.shift_remove(&id) {
            project.finish(upload, now);
        }

        Ok(CompletedUpload { build_id, status }.into())
    }
}

impl Project {
    /// Makes a build of a complete upload.
    fn finish(&mut self, upload: Upload, now: Moment) {
        let Upload { build, pieces, .. } = upload;
        let build = Build { status: self.status_of_builds().to_owned(), created: now, ..build };
        self.storage.contents.insert(build.id.clone(), pieces.into_values().collect());
        self.builds.insert(build.id.clone(), Arc::new(build));
    }
}

/// Checks that a single-part upload has its file, whole.
fn check_file(upload: &Upload) -> Result<(), String> {
    let Some(piece) = upload.pieces.get(&1) else { return Err("the file has not been uploaded".to_owned()) };
    check_size("the file", piece, upload.build.file_size)
}

/// Checks that the parts are those that have arrived, all of them, and make up the file. Their order is a rule.
fn check_parts(upload: &Upload, parts: &[CompletedPart]) -> Result<(), String> {
    let Some(Multipart { part_size, total_parts, .. }) = upload.multipart.as_ref() else { return Ok(()) };
    if parts.len() as u64 != *total_parts {
        return Err(format!("{} parts are named, the upload has {total_parts}", parts.len()));
    }

    for CompletedPart { part_number, etag } in parts {
        let part = format!("part {part_number}");
        let Some(piece) = upload.pieces.get(part_number) else {
            return Err(format!("{part} has not been uploaded"));
        };
        if etag.trim_matches('"') != piece.etag {
            return Err(format!("{part}: the etag is not that of what was uploaded"));
        }

        // The last part is what the others leave.
        let earlier = part_size.saturating_mul(part_number - 1);
        check_size(&part, piece, (*part_size).min(upload.build.file_size.saturating_sub(earlier)))?;
    }

    Ok(())
}

fn check_size(what: &str, piece: &Piece, expected: u64) -> Result<(), String> {
    if piece.size == expected {
        return Ok(());
    }
    Err(format!("{what} has {} bytes instead of {expected}", piece.size))
}

impl Answer<CancelBuildUpload> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(
        &mut self,
        asked: CancelBuildUpload,
        caller: &Caller,
    ) -> Result<Answered<CancelledUpload>, Fault> {
        let uploads = &mut self.project_mut(caller)?.storage.uploads;
        let upload_id = asked.upload_id.as_ref().map(|id| id.0.as_str());
        let upload = find(uploads, &asked.build_id.0)
            .filter(|upload| upload.is(Some(&asked.object_key.0), upload_id))
            .ok_or_else(not_found)?;
        let id = upload.build.id.clone();

        uploads.shift_remove(&id);

        Ok(CancelledUpload { success: true }.into())
    }
}

fn not_found() -> Fault {
    let body = json!({"error": NOT_FOUND, "code": "UPLOAD_NOT_FOUND"});
    Fault { status: StatusCode::NOT_FOUND, body }
}
