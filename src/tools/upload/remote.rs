//! Uploads of files that the caller sends to the storage host itself. This program only names the addresses.
//!
//! Nothing is remembered between the calls: everything that a later step needs is in the token of the upload.

mod answer;
mod ending;
mod token;

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use answer::{PartAddress, RemoteUploadAnswer};
pub(crate) use token::UploadToken;

use super::{
    FileServices,
    cancellation::UNKNOWN_UPLOAD_HINT,
    initiation::{
        UploadMethod, add_details, choose_time_limit, fill_from_file_name, initiation, upload_details,
    },
    part_addresses::batch_size,
    plan::{UploadMode, UploadPlan},
    session::UploadSession,
    timing::UploadTiming,
};
use crate::{
    call::{gateway::Gateway, scope::upload_of_other_project},
    client::StorageClient,
    failure::{Code, Failure},
    fields::Fields,
    service::api::uploads::{CompleteBuildUpload, InitiateBuildUpload},
    tools::project_client::ProjectClient,
    violation::Violation,
};

/// Characters of a reply that are reserved for the fields beside the addresses.
const RESERVED_CHARS: usize = 3_000;

/// Characters of the JSON of a part beside its address.
const PART_CHARS: usize = 90;

/// The steps of an upload whose parts the caller sends to the storage host.
#[derive(Debug)]
pub(crate) struct RemoteUpload {
    session: UploadSession,
    storage: Arc<StorageClient>,
}

impl RemoteUpload {
    /// Creates the steps of an upload in `project`, if the caller names one.
    pub(crate) fn new(gateway: &Gateway, project: Option<String>, files: &FileServices) -> Self {
        let session = UploadSession {
            client: ProjectClient { gateway: gateway.clone(), project },
            // Retries with pauses would exceed the time limit of a host, and the caller can repeat the step.
            timing: UploadTiming { attempts: 1, ..files.timing.clone() },
            deadline: gateway.clock().now(),
            cancelled: CancellationToken::new(),
        };
        Self { session, storage: Arc::clone(&files.storage) }
    }

    /// Initiates the upload of a file of `size` bytes. Returns the token and the first addresses.
    ///
    /// # Errors
    /// Those of the initiation. If the addresses cannot be returned, the upload is cancelled.
    pub(crate) async fn start(
        mut self,
        mut arguments: Fields,
        size: u64,
    ) -> Result<RemoteUploadAnswer, Failure> {
        let file_name = arguments.get("file_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        fill_from_file_name(&mut arguments, &file_name)?;
        let time_limit = choose_time_limit(&mut arguments, size);
        add_details(&mut arguments, [("upload", Some(upload_details(UploadMethod::Tool)))]);

        self.session.resolve_project::<InitiateBuildUpload>().await?;
        let started = self.session.client.gateway.clock().timestamp();
        let operation = initiation(arguments, size)?;
        let answer = self.session.client.call_guarded(&operation).await?.into_value();
        let plan = self.session.plan_of(&answer, size).await?;

        let project = self.session.client.project.as_deref();
        let token = UploadToken::new(&plan, &operation, project, started + time_limit);
        match self.answer(&token, &plan, 1).await {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(self.session.cancel_failed(&plan, failure).await),
        }
    }

    /// Opens the token of an earlier reply. The following steps go to its project.
    ///
    /// # Errors
    /// `invalid_arguments` if the token was changed or is one of another API key, `project_scope_mismatch` if the call is
    /// for another project, `not_found` if the upload has expired.
    pub(crate) async fn open(&mut self, sealed: &str) -> Result<UploadToken, Failure> {
        let gateway = &self.session.client.gateway;
        let token = UploadToken::open(sealed, gateway).await?;
        token.check_time(gateway.clock().timestamp())?;

        let owner = token.project().map(str::to_owned);
        let requested = std::mem::replace(&mut self.session.client.project, owner.clone());
        let mismatch = |requested: &str| {
            upload_of_other_project(requested, owner.as_deref().unwrap_or_default(), token.build_id())
        };
        if let Some(requested) = requested.filter(|requested| Some(requested) != owner.as_ref()) {
            return Err(mismatch(&requested));
        }

        match self.session.resolve_project::<CompleteBuildUpload>().await {
            // The address of the server binds all calls to another project.
            Err(failure) if failure.code == Code::ProjectScopeMismatch => {
                Err(mismatch(failure.facts.owning_project.as_deref().unwrap_or_default()))
            }
            outcome => outcome.map(|()| token),
        }
    }

    /// Returns addresses of the parts from `from_part` on.
    ///
    /// # Errors
    /// `invalid_arguments` if there is no such part or no address can be returned; the failures of the operation.
    pub(crate) async fn more_addresses(
        &self,
        token: &UploadToken,
        from_part: u64,
    ) -> Result<RemoteUploadAnswer, Failure> {
        let plan = token.plan();
        let total = plan.total_parts();
        if matches!(plan.mode, UploadMode::SinglePart { .. }) {
            let rule = "an upload in one piece has one address, which the first reply contained and which cannot be \
                        renewed: cancel it and start again";
            return Err(violation("from_part", rule));
        }
        if !(1..=total).contains(&from_part) {
            return Err(violation("from_part", &format!("must be from 1 to {total}, got {from_part}")));
        }

        self.answer(token, &plan, from_part).await.map_err(|failure| match failure.code {
            Code::Rejected | Code::NotFound => failure.hint(UNKNOWN_UPLOAD_HINT),
            _ => failure,
        })
    }

    /// Returns the reply with the addresses from `from_part` on, as many as fit into a reply.
    async fn answer(
        &self,
        token: &UploadToken,
        plan: &UploadPlan,
        from_part: u64,
    ) -> Result<RemoteUploadAnswer, Failure> {
        let gateway = &self.session.client.gateway;
        let sealed = token.seal(gateway).await?;
        let total = plan.total_parts();
        let count = batch_size(total + 1 - from_part);
        let numbers: Vec<_> = (from_part..from_part + count).collect();
        let addresses = self.session.part_addresses(plan, &numbers).await?;

        let mut remaining = gateway.max_reply_chars()?.saturating_sub(RESERVED_CHARS + sealed.len());
        let mut parts = Vec::new();
        for (number, url) in addresses {
            self.storage.check_address(&url).map_err(|rule| unusable_address(number, rule))?;
            let length = url.len() + PART_CHARS;
            // The first address is returned in any case.
            if length > remaining && !parts.is_empty() {
                break;
            }
            remaining = remaining.saturating_sub(length);
            parts.push(PartAddress::new(number, plan.part_range(number, token.size()), url));
        }

        let next = Some(from_part + parts.len() as u64).filter(|next| *next <= total);
        Ok(RemoteUploadAnswer::uploading(sealed, token, plan, parts, next))
    }
}

fn violation(argument: &str, rule: &str) -> Failure {
    Failure::invalid_arguments("upload_build", &[Violation::new(argument, rule)])
}

fn unusable_address(number: u64, rule: &str) -> Failure {
    let message = format!("get_build_upload_parts: the address of part {number} {rule}");
    Failure::new(Code::BadResponse, message)
}
