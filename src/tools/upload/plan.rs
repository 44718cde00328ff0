//! What the service wants: many parts, or one (supplement 10.4).

use serde_json::Value;

use super::part_body::ByteRange;
use crate::failure::{Code, Failure};

/// An opened upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UploadPlan {
    pub(super) build_id: String,
    pub(super) object_key: String,
    pub(super) flow: UploadMode,
}

/// How the bytes travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UploadMode {
    /// In parts of `part_size` bytes, the last one shorter.
    Parts { upload_id: String, part_size: u64, total_parts: u64 },
    /// Whole, to this address.
    Whole { upload_url: String },
}

impl UploadPlan {
    /// Takes the answer to an initiation for a file of `size` bytes.
    ///
    /// # Errors
    /// `bad_response` when it cannot be followed.
    pub(super) fn of(answer: &Value, size: u64) -> Result<Self, Failure> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let missing = |name: &str| unusable(&format!("lacks `{name}`"));
        let own = |name: &str| text(name).map(str::to_owned).ok_or_else(|| missing(name));
        let is_whole = match text("upload_type") {
            Some(kind) => kind == "single-part",
            None => text("upload_id").is_none(),
        };
        let flow = if is_whole {
            UploadMode::Whole { upload_url: own("upload_url")? }
        } else {
            let number = |name: &str| answer.get(name).and_then(Value::as_u64).ok_or_else(|| missing(name));
            let (part_size, total_parts) = (number("part_size")?, number("total_parts")?);
            if !fits(size, part_size, total_parts) {
                return Err(unusable(&format!(
                    "says {total_parts} parts of {part_size} bytes, which is not the file's {size} bytes"
                )));
            }
            UploadMode::Parts { upload_id: own("upload_id")?, part_size, total_parts }
        };

        Ok(Self { build_id: own("build_id")?, object_key: own("object_key")?, flow })
    }

    /// Number of parts.
    pub(super) fn total_parts(&self) -> u64 {
        match &self.flow {
            UploadMode::Parts { total_parts, .. } => *total_parts,
            UploadMode::Whole { .. } => 1,
        }
    }

    /// Where part `number`, from 1, lies in a file of `size` bytes.
    pub(super) fn range(&self, number: u64, size: u64) -> ByteRange {
        let part_size = match &self.flow {
            UploadMode::Parts { part_size, .. } => *part_size,
            UploadMode::Whole { .. } => size,
        };
        let offset = number.saturating_sub(1).saturating_mul(part_size).min(size);
        ByteRange { offset, length: part_size.min(size - offset) }
    }
}

/// Whether a file of `size` bytes has so many parts.
pub(super) fn fits(size: u64, part_size: u64, total_parts: u64) -> bool {
    part_size > 0 && total_parts > 0 && size.div_ceil(part_size) == total_parts
}

fn unusable(why: &str) -> Failure {
    Failure::new(Code::BadResponse, format!("initiate_build_upload: the service's answer {why}"))
        .hint("nothing was uploaded; tell the person, and try again later")
}
