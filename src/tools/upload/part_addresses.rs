//! The presigned addresses of the parts of an upload.

use serde_json::Value;

use super::{
    plan::{UploadMode, UploadPlan},
    session::UploadSession,
};
use crate::{
    failure::{Code, Failure},
    service::api::{Id, uploads::GetBuildUploadParts},
};

/// Usual number of addresses of one request (specification, Multipart build upload: 3 to 10).
const BATCH_SIZE: u64 = 8;

/// Maximum number of addresses of one request. The last batch may be larger than the others, so that it never has fewer
/// than three addresses.
const MAX_BATCH_SIZE: u64 = 10;

/// Returns the number of addresses of the next request, if `count` parts have no address yet.
pub(super) fn batch_size(count: u64) -> u64 {
    if count > MAX_BATCH_SIZE { BATCH_SIZE } else { count }
}

impl UploadSession {
    /// Returns the addresses of the parts `numbers`, each with its number, in this order.
    pub(super) async fn part_addresses(
        &self,
        plan: &UploadPlan,
        numbers: &[u64],
    ) -> Result<Vec<(u64, String)>, Failure> {
        let upload_id = match &plan.mode {
            UploadMode::Multipart { upload_id, .. } => upload_id,
            UploadMode::SinglePart { upload_url } => return Ok(vec![(1, upload_url.clone())]),
        };
        let operation = GetBuildUploadParts {
            upload_id: Id(upload_id.clone()),
            object_key: Id(plan.object_key.clone()),
            part_numbers: numbers.to_vec(),
        };

        let answer = self.call_with_retries(&operation).await?;
        let listed = answer.get("upload_urls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);

        numbers.iter().map(|number| Ok((*number, find_address(*number, listed)?))).collect()
    }
}

/// Returns the address of part `number` from the answer of the service, which must list it exactly once.
fn find_address(number: u64, listed: &[Value]) -> Result<String, Failure> {
    let is_of_part = |entry: &&Value| entry.get("part_number").and_then(Value::as_u64) == Some(number);
    let mut found = listed.iter().filter(is_of_part);
    let address = found.next().and_then(|entry| entry.get("url")?.as_str());

    let count = match (address, found.next()) {
        (Some(address), None) => return Ok(address.to_owned()),
        (None, _) => "none",
        (Some(_), Some(_)) => "several",
    };

    Err(Failure::new(
        Code::BadResponse,
        format!(
            "get_build_upload_parts: one address of part {number} was requested, but the answer contains {count}"
        ),
    ))
}
