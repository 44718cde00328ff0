//! Installers of Minions (specification, GET minions/download).

use http::{HeaderValue, StatusCode};

use super::{Answer, Answered, Caller, Fault, World, lists::word, presigned, storage};
use crate::service::api::minions::{GetMinionDownload, Installer};

/// How long an address is valid, in seconds (specification, Limits).
const VALIDITY_S: u32 = 24 * 60 * 60;

impl Answer<GetMinionDownload> for World {
    fn answer(&mut self, asked: GetMinionDownload, _: &Caller) -> Result<Answered<Installer>, Fault> {
        let file = format!("minion-2.8.1-{}.zip", word(asked.platform));
        let installer = format!("{}{}/minions/{file}", self.knowledge_url, storage::PREFIX);
        let address = presigned::sign(&installer, self.now, VALIDITY_S);
        let location = HeaderValue::from_str(&address)
            .map_err(|error| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(Answered::redirect(StatusCode::TEMPORARY_REDIRECT, location))
    }
}
