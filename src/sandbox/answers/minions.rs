//! Installers of Minions (service.md 14).

use http::{HeaderValue, StatusCode};

use crate::{
    sandbox::{
        answers::{
            answer::Answer, answered::Answered, api_error::ApiError, caller::Caller, filters::wire_name,
            presigned_url,
        },
        model::world::World,
    },
    service::api::minions::{GetMinionDownload, Installer},
};

/// How long the address of an installer is valid, in seconds (service.md 14).
const VALIDITY_S: u32 = 24 * 60 * 60;

impl Answer<GetMinionDownload> for World {
    fn answer(&mut self, request: GetMinionDownload, _: &Caller) -> Result<Answered<Installer>, ApiError> {
        // Downloads take the name of the file from the address.
        let file = format!("minion-2.8.1-{}.zip", wire_name(request.platform));
        let installer = format!("{}{}/minions/{file}", self.knowledge_url, presigned_url::STORAGE_PREFIX);
        let address = presigned_url::sign(&installer, self.now, VALIDITY_S);
        let location = HeaderValue::from_str(&address).map_err(|error| ApiError::internal(&error))?;
        Ok(Answered::redirect(StatusCode::TEMPORARY_REDIRECT, location))
    }
}
