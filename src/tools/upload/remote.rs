//! Uploads of files that the caller sends to the storage host itself. This program only names the addresses.
//!
//! Nothing is remembered between the calls: everything that a later step needs is in the token of the upload.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

use std::{sync::Arc, time::Duration};

use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    BuildArguments, FileServices, UploadIds, UploadMethod, UploadTiming, UploadedBuild,
    parts::batch_size,
    request::{add_details, choose_time_limit},
    session::{CancelOutcome, PartEtags, UNKNOWN_UPLOAD_HINT, UploadPlan, UploadSession},
};
use crate::{
    call::{Caller, RequestPreview, scope::upload_of_other_project},
    client::StorageClient,
    failure::{Code, Failure},
    sealing,
    service::{
        api::{
            Open,
            uploads::{CompleteBuildUpload, CompletedPart, InitiateBuildUpload, UploadedFile},
        },
        tool::DRY_RUN,
    },
    tools::project_client::ProjectClient,
    violation::Violation,
};

/// Characters of a reply that are reserved for the fields beside the addresses.
const RESERVED_CHARS: usize = 3_000;

/// Characters of the JSON of a part beside its address.
const PART_CHARS: usize = 90;

/// Hint for a completion whose outcome is unknown.
const REPEAT_HINT: &str =
    "call again with the same `upload_token` and `parts`: an upload becomes a build only once";

/// An upload whose bytes the caller sends, finished or not.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RemoteUploadAnswer {
    /// `uploading`, `uploaded` or `cancelled`; `dry_run`: nothing was sent.
    pub status: &'static str,
    /// The request of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Open")]
    pub request: Option<RequestPreview>,
    /// Argument of the next call while the status is `uploading`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_token: Option<String>,
    /// Arguments for `cancel_build_upload` while the status is `uploading`.
    #[serde(flatten)]
    pub ids: Option<UploadIds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_parts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_urls: Option<Vec<PartAddress>>,
    /// `from_part` of the next call; absent if no part follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_part: Option<u64>,
    /// When the service removes an unfinished upload, in ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(flatten)]
    pub build: Option<UploadedBuild>,
}

/// The presigned address of a part, and the bytes of the file that belong there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartAddress {
    pub part_number: u64,
    /// First byte of the file.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    pub url: String,
}

/// The steps of an upload whose parts the caller sends to the storage host.
#[derive(Debug)]
pub(crate) struct RemoteUpload {
    session: UploadSession,
    storage: Arc<StorageClient>,
}

impl RemoteUpload {
    /// Creates the steps of an upload in `project`, if the caller names one.
    pub(crate) fn new(caller: &Caller, project: Option<String>, files: &FileServices) -> Self {
        let session = UploadSession {
            client: ProjectClient { caller: caller.clone(), project },
            // Retries with pauses would exceed the time limit of a host, and the caller can repeat the step.
            timing: UploadTiming { attempts: 1, ..files.config.timing.clone() },
            deadline: caller.clock().now(),
            cancelled: CancellationToken::new(),
        };
        Self { session, storage: Arc::clone(&files.storage) }
    }

    /// Initiates the upload of `file`. Returns the token and the first addresses.
    ///
    /// # Errors
    /// Those of the initiation. If the addresses cannot be returned, the upload is cancelled.
    pub(crate) async fn start(
        mut self,
        file: UploadedFile,
        build: BuildArguments,
    ) -> Result<RemoteUploadAnswer, Failure> {
        let (initiation, time_limit) = initiation(file, build)?;

        self.session.resolve_project::<InitiateBuildUpload>().await?;
        let client = &self.session.client;
        let started = client.caller.clock().timestamp();
        let reply = client.call(&initiation).await?;
        let answer = reply.view::<InitiateBuildUpload>();
        let plan = self.session.plan_of(answer, initiation.file.file_size).await?;

        let build = UploadedBuild::new(&plan, &initiation, client.project.as_deref());
        let token = UploadToken::new(&plan, build, started + time_limit);
        match self.answer(&token, &plan, 1).await {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(self.session.cancel_failed(&plan.ids, failure).await),
        }
    }

    /// Returns the request that initiates the upload, which is not sent.
    ///
    /// # Errors
    /// Those of the initiation before its request.
    pub(crate) async fn preview(
        self,
        file: UploadedFile,
        build: BuildArguments,
    ) -> Result<RemoteUploadAnswer, Failure> {
        let (initiation, _) = initiation(file, build)?;
        let request = Some(self.session.client.preview(&initiation).await?);

        Ok(RemoteUploadAnswer { status: DRY_RUN, request, ..RemoteUploadAnswer::default() })
    }

    /// Opens the token of an earlier reply. The following steps go to its project.
    ///
    /// # Errors
    /// `invalid_arguments` if the token was changed or is one of another API key, `project_scope_mismatch` if the call
    /// is for another project, `not_found` if the upload has expired.
    pub(crate) async fn open(&mut self, sealed: &str) -> Result<UploadToken, Failure> {
        let caller = &self.session.client.caller;
        let token = UploadToken::open(sealed, caller).await?;
        token.check_time(caller.clock().timestamp())?;

        let owner = token.project.clone();
        let requested = std::mem::replace(&mut self.session.client.project, owner.clone());
        let mismatch = |requested: &str| {
            upload_of_other_project(requested, owner.as_deref().unwrap_or_default(), &token.build_id)
        };
        if let Some(requested) = requested.filter(|requested| Some(requested) != owner.as_ref()) {
            return Err(mismatch(&requested));
        }

        match self.session.resolve_project::<CompleteBuildUpload>().await {
            // Nothing but the token names the project, so that another key of the user was chosen.
            Err(failure) if failure.code == Code::PermissionDenied => Err(match &owner {
                Some(owner) => failure.hint(format!("pass `project_id: \"{owner}\"` too")),
                None => failure,
            }),
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
        if !plan.is_multipart() {
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
        let caller = &self.session.client.caller;
        let sealed = token.seal(caller).await?;
        let total = plan.total_parts();
        let count = batch_size(total + 1 - from_part);
        let numbers = (from_part..from_part + count).collect();
        let addresses = self.session.part_addresses(plan, numbers).await?;

        let mut remaining = caller.max_reply_chars().saturating_sub(RESERVED_CHARS + sealed.len());
        let mut parts = Vec::new();
        for (number, url) in addresses {
            self.storage.check_address(&url).map_err(|rule| unusable_address(number, rule))?;
            let chars = url.len() + PART_CHARS;
            // The first address is returned in any case.
            if chars > remaining && !parts.is_empty() {
                break;
            }
            remaining = remaining.saturating_sub(chars);
            let range = plan.part_range(number);
            let length = range.end - range.start;
            parts.push(PartAddress { part_number: number, offset: range.start, length, url });
        }

        let next_part = Some(from_part + parts.len() as u64).filter(|next| *next <= total);
        Ok(RemoteUploadAnswer {
            status: "uploading",
            upload_token: Some(sealed),
            ids: Some(plan.ids.clone()),
            total_parts: Some(total),
            upload_urls: Some(parts),
            next_part,
            ends_at: Some(token.ends_at()),
            next: Some(next_steps(plan, next_part)),
            ..RemoteUploadAnswer::default()
        })
    }

    /// Completes the upload. A completion of an upload that is complete already has the same reply: the service has no
    /// such upload any more, and the build exists.
    ///
    /// # Errors
    /// `invalid_arguments` unless `parts` are all parts; the failures of the operation.
    pub(crate) async fn complete(
        &self,
        token: &UploadToken,
        parts: Vec<CompletedPart>,
    ) -> Result<RemoteUploadAnswer, Failure> {
        let plan = token.plan();
        check_count(parts.len() as u64, plan.total_parts())?;
        let etags: PartEtags = parts.into_iter().map(|part| (part.part_number, part.etag)).collect();

        let limit = self.session.timing.wait_limit;
        let completion = self.session.complete(&plan.ids, &etags);
        let outcome = tokio::time::timeout(limit, completion).await.unwrap_or_else(|_| {
            let message = format!("complete_build_upload: no answer within {} s", limit.as_secs());
            Err(Failure::new(Code::OutcomeUnknown, message).uncertain(REPEAT_HINT))
        });

        match outcome {
            Ok(()) => {
                let build = Some(token.build());
                Ok(RemoteUploadAnswer { status: "uploaded", build, ..RemoteUploadAnswer::default() })
            }
            Err(failure) => Err(describe_failure(failure).detail("build_id", token.build_id.as_str())),
        }
    }

    /// Cancels the upload. A second cancellation has the same reply.
    ///
    /// # Errors
    /// `conflict` if the upload has become a build; the failure of the operation.
    pub(crate) async fn cancel(&self, token: &UploadToken) -> Result<RemoteUploadAnswer, Failure> {
        let plan = token.plan();

        match self.session.cancel(&plan.ids).await {
            CancelOutcome::NotFound if self.session.is_built(&token.build_id).await? => {
                let message =
                    format!("upload_build: the upload is complete: build `{}` exists", token.build_id);
                Err(Failure::new(Code::Conflict, message)
                    .hint("[[`tool:delete_build` deletes a build; ]]nothing was changed"))
            }
            CancelOutcome::Cancelled | CancelOutcome::NotFound => {
                let ids = Some(plan.ids);
                Ok(RemoteUploadAnswer { status: "cancelled", ids, ..RemoteUploadAnswer::default() })
            }
            CancelOutcome::Failed(failure) => {
                let hint =
                    "call again: the space remains reserved until the upload is cancelled or times out";
                Err(failure.hint(hint).detail("build_id", token.build_id.as_str()))
            }
        }
    }
}

/// Returns the initiation of the upload of `file`, and how long the upload may take.
fn initiation(file: UploadedFile, build: BuildArguments) -> Result<(InitiateBuildUpload, Duration), Failure> {
    let mut initiation = build.into_initiation(file)?;
    let time_limit = choose_time_limit(&mut initiation);
    add_details(&mut initiation, [("upload", Some(UploadMethod::Tool.details()))]);

    Ok((initiation, time_limit))
}

/// Checks the number of parts. A rule of the tool has checked that they are numbered from 1 without gaps.
fn check_count(count: u64, total: u64) -> Result<(), Failure> {
    let rule = match count {
        _ if count == total => return Ok(()),
        more if more > total => format!("has {more} parts, the upload has {total}"),
        fewer => {
            format!("lacks parts {} to {total}: complete the upload when all parts are stored", fewer + 1)
        }
    };
    Err(violation("parts", &rule))
}

/// Adds to the failure of a completion what the caller does next. The upload is not cancelled.
fn describe_failure(failure: Failure) -> Failure {
    match failure.code {
        Code::NotFound => failure.hint(UNKNOWN_UPLOAD_HINT),
        Code::Rejected => failure.hint(
            "send the part that the message names again and pass its new `ETag`, with all other parts; `cancel: true` gives up",
        ),
        Code::OutcomeUnknown => failure.uncertain(REPEAT_HINT),
        _ if failure.is_transient() => failure.hint(REPEAT_HINT),
        _ => failure,
    }
}

/// Returns what the caller does next.
fn next_steps(plan: &UploadPlan, next_part: Option<u64>) -> String {
    let send = "PUT the bytes of each part to its `url` with `Content-Type: application/octet-stream` and without an API \
                key, and keep the header `ETag` of each response.";
    let more = next_part.map(|next| {
        format!(" Addresses of further parts: `upload_build` with `upload_token` and `from_part: {next}`.")
    });
    let complete = match plan.total_parts() {
        1 => " Then call `upload_build` with `upload_token` and `parts: [{\"part_number\": 1, \"etag\": ...}]`.".to_owned(),
        total => format!(
            " When all {total} parts are stored, call `upload_build` with `upload_token` and `parts`, the `part_number` and \
             `etag` of each part in order."
        ),
    };
    let renewal = if plan.is_multipart() {
        " An address is valid for about an hour; `from_part` returns a new one. `cancel: true` gives up."
    } else {
        " The address is valid for about an hour and cannot be renewed. `cancel: true` gives up."
    };

    [send, more.as_deref().unwrap_or_default(), &complete, renewal].concat()
}

fn violation(argument: &str, rule: &str) -> Failure {
    Failure::invalid_arguments("upload_build", &[Violation::new(argument, rule)])
}

fn unusable_address(number: u64, rule: &str) -> Failure {
    let message = format!("get_build_upload_parts: the address of part {number} {rule}");
    Failure::new(Code::BadResponse, message)
}

/// Purpose of the derived key that seals the tokens.
const KEY_PURPOSE: &[u8] = b"tas-mcp uploads 1";

/// Data that the seal is bound to besides the key.
const CONTEXT: &[u8] = b"upload_build";

/// The content of a token. Its names are short, because models repeat the token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UploadToken {
    #[serde(rename = "b")]
    build_id: String,
    /// `None` for an upload in one piece.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    upload_id: Option<String>,
    #[serde(rename = "k")]
    object_key: String,
    #[serde(rename = "p")]
    project: Option<String>,
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "f")]
    file_name: String,
    #[serde(rename = "o")]
    platform: String,
    #[serde(rename = "s")]
    size: u64,
    #[serde(rename = "l")]
    part_size: u64,
    /// When the service removes the upload, in seconds since 1970.
    #[serde(rename = "e")]
    ends: i64,
}

impl UploadToken {
    /// Creates the token of an upload that ends at `ends`.
    fn new(plan: &UploadPlan, build: UploadedBuild, ends: Timestamp) -> Self {
        Self {
            build_id: build.build_id,
            upload_id: plan.ids.upload_id.clone(),
            object_key: plan.ids.object_key.clone(),
            project: build.project_id,
            name: build.name,
            file_name: build.file_name,
            platform: build.platform,
            size: plan.size,
            part_size: plan.part_size,
            ends: ends.as_second(),
        }
    }

    async fn seal(&self, caller: &Caller) -> Result<String, Failure> {
        sealing::seal(&caller.derived_key(KEY_PURPOSE).await?, CONTEXT, self)
            .ok_or_else(|| Failure::new(Code::NotConfigured, "upload_build: the token cannot be sealed"))
    }

    /// Opens a sealed token.
    ///
    /// # Errors
    /// `invalid_arguments` unless the token was sealed for the same API key and is unchanged.
    async fn open(sealed: &str, caller: &Caller) -> Result<Self, Failure> {
        let token: Option<Self> = sealing::open(&caller.derived_key(KEY_PURPOSE).await?, CONTEXT, sealed);
        token.filter(|token| token.part_size > 0).ok_or_else(|| {
            violation(
                "upload_token",
                "must be the `upload_token` of an earlier reply, unchanged, and of a call with the same credential",
            )
        })
    }

    /// Checks that the service still has the upload at the time `now`.
    ///
    /// # Errors
    /// `not_found` if its time limit has passed.
    fn check_time(&self, now: Timestamp) -> Result<(), Failure> {
        if now.as_second() < self.ends {
            return Ok(());
        }

        let message = format!(
            "upload_build: the upload of build `{}` ended at {}: its time limit has passed, and the service removes its parts",
            self.build_id,
            self.ends_at()
        );
        Err(Failure::new(Code::NotFound, message).hint(UNKNOWN_UPLOAD_HINT))
    }

    /// Returns when the service removes the upload, in ISO 8601.
    fn ends_at(&self) -> String {
        let ends = Timestamp::from_second(self.ends).unwrap_or_default().to_zoned_datetime(TimeZone::UTC);
        ends.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Returns the plan of the upload. The address of an upload in one piece is left out.
    fn plan(&self) -> UploadPlan {
        let ids = UploadIds {
            build_id: self.build_id.clone(),
            upload_id: self.upload_id.clone(),
            object_key: self.object_key.clone(),
        };
        UploadPlan { ids, size: self.size, part_size: self.part_size, upload_url: None }
    }

    /// Returns the build that the upload becomes.
    fn build(&self) -> UploadedBuild {
        UploadedBuild {
            build_id: self.build_id.clone(),
            project_id: self.project.clone(),
            name: self.name.clone(),
            file_name: self.file_name.clone(),
            platform: self.platform.clone(),
            size: self.size,
            parts: self.plan().total_parts(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(upload_id: Option<&str>) -> UploadToken {
        UploadToken {
            build_id: "b".to_owned(),
            upload_id: upload_id.map(str::to_owned),
            object_key: "o".to_owned(),
            project: None,
            name: "n".to_owned(),
            file_name: "f".to_owned(),
            platform: "xbox".to_owned(),
            size: 2_500,
            part_size: if upload_id.is_some() { 1_000 } else { 2_500 },
            ends: 1_000,
        }
    }

    #[test]
    fn a_token_is_valid_until_the_upload_ends() {
        for (second, code) in [(0, None), (999, None), (1_000, Some(Code::NotFound))] {
            let now = Timestamp::from_second(second).expect("a time");
            let checked = token(Some("u")).check_time(now);
            assert_eq!(checked.err().map(|failure| failure.code), code, "{second}");
        }
    }

    #[test]
    fn the_plan_follows_from_the_sizes() {
        for (upload_id, total_parts) in [(Some("u"), 3), (None, 1)] {
            let token = token(upload_id);
            assert_eq!(token.plan().total_parts(), total_parts);
            assert_eq!((token.build().parts, token.build().size), (total_parts, 2_500));
        }
    }
}
