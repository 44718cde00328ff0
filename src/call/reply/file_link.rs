//! Links to files that callers fetch themselves.

use serde_json::Value;

use crate::{
    client::{AddressPolicy, HttpResponse, PresignedAddress},
    fields::Fields,
    service::operation::ResponseKind,
};

/// A file that works without a key, for a limited time.
#[derive(Clone, Debug)]
pub struct FileLink {
    /// Where the file is.
    pub address: PresignedAddress,
    /// Name of the file, perhaps with directories.
    pub name: String,
    /// Size in bytes, if it is known.
    pub size: Option<u64>,
    /// Media type, if it is known.
    pub media_type: Option<String>,
}

/// Returns the link to the file that an answer is about: the target of a redirect.
pub(super) fn link(
    kind: ResponseKind,
    answer: &HttpResponse,
    arguments: &Fields,
    policy: AddressPolicy,
) -> Option<FileLink> {
    match kind {
        ResponseKind::Redirect => redirect_link(answer.location.as_deref()?, policy),
        ResponseKind::File => Some(FileLink {
            address: answer.file.redirected_to.clone()?,
            name: arguments.get("filename").and_then(Value::as_str)?.to_owned(),
            size: answer.file.total,
            media_type: answer.file.content_type.clone(),
        }),
        ResponseKind::Json | ResponseKind::Status => None,
    }
}

fn redirect_link(target: &str, policy: AddressPolicy) -> Option<FileLink> {
    let address = PresignedAddress::new(policy.parse(target).ok()?);
    let name = address.file_name()?;
    Some(FileLink { address, name, size: None, media_type: None })
}
