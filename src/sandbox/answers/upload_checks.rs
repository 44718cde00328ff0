//! Checks of the bytes of a finished upload (service.md 10.6).

use crate::{
    sandbox::model::{
        blob_store::Blob,
        pending_upload::{MultipartLayout, PendingUpload},
    },
    service::api::uploads::CompletedPart,
};

/// Checks that the complete file of a single-part upload has arrived.
pub(super) fn check_file(upload: &PendingUpload) -> Result<(), String> {
    let Some(piece) = upload.parts.get(&1) else { return Err("the file has not been uploaded".to_owned()) };
    check_size("the file", piece, upload.build.file_size)
}

/// Checks that `parts` are exactly the parts of the upload and that all bytes have arrived. A rule of the operation
/// checks their order.
pub(super) fn check_parts(upload: &PendingUpload, parts: &[CompletedPart]) -> Result<(), String> {
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
