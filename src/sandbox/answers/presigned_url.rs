//! Presigned addresses of the storage host, which work without a key, and the installers of Minions, which are files
//! behind such an address (service.md 12.2, 14).

use http::StatusCode;

use super::prelude::*;
use crate::service::api::minions::{GetMinionDownload, Installer};

pub(crate) const STORAGE_PREFIX: &str = "/storage";

/// How long the address of an installer is valid, in seconds (service.md 14).
const INSTALLER_VALIDITY_S: u32 = 24 * 60 * 60;

/// Returns `address` with the query of a presigned address. The storage host of the sandbox does not check it.
pub(super) fn sign(address: &str, now: Moment, seconds: u32) -> String {
    let date = now.timestamp().strftime("%Y%m%dT%H%M%SZ");
    format!("{address}?X-Amz-Date={date}&X-Amz-Expires={seconds}&X-Amz-Signature=5a0db0c5")
}

impl Answer<GetMinionDownload> for World {
    fn answer(&mut self, request: GetMinionDownload, _: &Caller) -> AnswerResult<Installer> {
        // Downloads take the name of the file from the address.
        let file = format!("minion-2.8.1-{}.zip", wire_name(request.platform));
        let installer = format!("{}{}/minions/{file}", self.knowledge_url, STORAGE_PREFIX);
        let address = sign(&installer, self.now, INSTALLER_VALIDITY_S);
        Answered::redirect(StatusCode::TEMPORARY_REDIRECT, &address)
    }
}
