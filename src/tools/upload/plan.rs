//! How the bytes of an upload are sent: the service decides it at the initiation (supplement 10.4).

use serde_json::Value;

use super::part_body::PartRange;
use crate::failure::{Code, Failure};

/// The answer of the service to an initiation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UploadPlan {
    pub(super) build_id: String,
    pub(super) object_key: String,
    pub(super) mode: UploadMode,
}

/// How the bytes are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UploadMode {
    /// In parts of `part_size` bytes; the last part may be shorter.
    Multipart { upload_id: String, part_size: u64, total_parts: u64 },
    /// The whole file to one address.
    SinglePart { upload_url: String },
}

impl UploadPlan {
    /// Reads the answer to the initiation of an upload of `size` bytes. Each field is read by itself, so that the
    /// failure names the field that is missing.
    ///
    /// # Errors
    /// `bad_response` if a field is missing or the number of parts does not match the size.
    pub(super) fn from_answer(answer: &Value, size: u64) -> Result<Self, Failure> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let missing = |name: &str| unusable_answer(&format!("lacks `{name}`"));
        let required_text = |name: &str| text(name).map(str::to_owned).ok_or_else(|| missing(name));
        let required_number =
            |name: &str| answer.get(name).and_then(Value::as_u64).ok_or_else(|| missing(name));

        let is_single_part = match text("upload_type") {
            Some(upload_type) => upload_type == "single-part",
            // Only multipart uploads have an `upload_id`.
            None => text("upload_id").is_none(),
        };
        let mode = if is_single_part {
            UploadMode::SinglePart { upload_url: required_text("upload_url")? }
        } else {
            let part_size = required_number("part_size")?;
            let total_parts = required_number("total_parts")?;
            if !is_part_count(size, part_size, total_parts) {
                return Err(unusable_answer(&format!(
                    "states {total_parts} parts of {part_size} bytes, which does not match the {size} bytes of the file"
                )));
            }
            UploadMode::Multipart { upload_id: required_text("upload_id")?, part_size, total_parts }
        };

        Ok(Self { build_id: required_text("build_id")?, object_key: required_text("object_key")?, mode })
    }

    /// Returns the number of parts.
    pub(super) fn total_parts(&self) -> u64 {
        match &self.mode {
            UploadMode::Multipart { total_parts, .. } => *total_parts,
            UploadMode::SinglePart { .. } => 1,
        }
    }

    /// Returns the position of part `number`, counted from 1, in a file of `size` bytes.
    pub(super) fn part_range(&self, number: u64, size: u64) -> PartRange {
        let part_size = match &self.mode {
            UploadMode::Multipart { part_size, .. } => *part_size,
            UploadMode::SinglePart { .. } => size,
        };
        let offset = number.saturating_sub(1).saturating_mul(part_size).min(size);
        PartRange { offset, length: part_size.min(size - offset) }
    }
}

/// Returns whether a file of `size` bytes has `total_parts` parts of `part_size` bytes.
pub(super) fn is_part_count(size: u64, part_size: u64, total_parts: u64) -> bool {
    part_size > 0 && total_parts > 0 && size.div_ceil(part_size) == total_parts
}

fn unusable_answer(problem: &str) -> Failure {
    Failure::new(Code::BadResponse, format!("initiate_build_upload: the service's answer {problem}"))
        .hint("nothing was uploaded; try again later")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn multipart(part_size: u64, total_parts: u64) -> UploadPlan {
        let answer = json!({
            "build_id": "b", "object_key": "o", "upload_id": "u",
            "part_size": part_size, "total_parts": total_parts,
        });
        UploadPlan::from_answer(&answer, part_size * (total_parts - 1) + 1).expect("a usable answer")
    }

    #[test]
    fn the_last_part_may_be_shorter() {
        let plan = multipart(1_000, 3);
        let cases = [(1, 0, 1_000), (2, 1_000, 1_000), (3, 2_000, 500), (4, 2_500, 0)];
        for (number, offset, length) in cases {
            assert_eq!(plan.part_range(number, 2_500), PartRange { offset, length }, "part {number}");
        }
    }

    #[test]
    fn the_number_of_parts_follows_from_the_size() {
        let cases = [
            ((2_500, 1_000, 3), true),
            ((3_000, 1_000, 3), true),
            ((3_001, 1_000, 3), false),
            ((1, 0, 1), false),
            ((0, 1, 0), false),
        ];

        for ((size, part_size, total_parts), expected) in cases {
            assert_eq!(
                is_part_count(size, part_size, total_parts),
                expected,
                "{size} {part_size} {total_parts}"
            );
        }
    }
}
