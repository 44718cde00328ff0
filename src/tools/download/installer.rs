//! The installer of Minions: an address of the service, and what lies there.
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use std::{
    env::consts::{ARCH, OS},
    sync::{Arc, Mutex, PoisonError},
};

use percent_encoding::percent_decode_str;
use reqwest::Url;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    DownloadOptions, INTERVAL, LATE,
    context::{DownloadSource, DownloadTarget, SaveError, SaveOutcome, TransferContext},
    plan,
    progress::DownloadProgress,
    tell,
    transfer::save,
};
use crate::{
    call::gateway::{Gateway, Refusal},
    client::{
        DownloadResponse, DownloadStream, HttpResponse, ResumeFrom, StorageClient, StorageError,
        reports_expired_address,
    },
    failure::{Code, Failure, quote},
    fields::Fields,
    service::{
        api::minions::{GetMinionDownload, MinionPlatform},
        catalog,
        operation::Operation as _,
        tool::PROJECT_ID,
    },
    tools::{
        caller::CallerContext,
        files::{Destination, sleep_until},
    },
};

/// An installer, saved or not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SavedInstaller {
    /// `downloaded`; `downloading`: the same call goes on where this one ended.
    pub status: &'static str,
    pub platform: MinionPlatform,
    pub path: String,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// `true`: it was there before, with the same size and, where that is told, the same time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// Which installer.
#[derive(Clone, Debug)]
pub struct InstallerRequest {
    /// Project that the caller named.
    pub project: Option<String>,
    pub platform: MinionPlatform,
    /// Whether another file of its name is replaced.
    pub overwrite: bool,
}

impl MinionPlatform {
    /// The platform of this machine, if there is an installer for it.
    pub fn here() -> Option<Self> {
        match (OS, ARCH) {
            ("windows", "x86_64") => Some(Self::Windows),
            ("linux", "x86_64") => Some(Self::Linux),
            ("macos", "aarch64") => Some(Self::Darwin),
            _ => None,
        }
    }
}

impl InstallerRequest {
    /// Saves the installer. When the audience waits no longer, the rest is left to the next call.
    ///
    /// # Errors
    /// Those of `get_minion_download`; `file_error` when another file of its name is there or nothing can be written; what
    /// the storage host says.
    pub async fn run(
        self,
        gateway: &Gateway,
        storage: &Arc<StorageClient>,
        destination: &Destination,
        options: &DownloadOptions,
        audience: &CallerContext,
    ) -> Result<SavedInstaller, Failure> {
        let end = audience.wait_limit.map(|patience| Instant::now() + patience);
        let storage = Arc::clone(storage);
        let origin =
            InstallerSource { gateway: gateway.clone(), storage, order: self, address: Mutex::default() };
        let address = origin.ask().await?;
        let name = file_name(&address)?;

        origin.remember(address);
        let directory = destination.open()?;
        let shown = directory.path().join(&name).display().to_string();
        let progress = Arc::new(DownloadProgress::new(0));
        let replaces = origin.order.overwrite;
        let target = DownloadTarget { path: name, size: None, modified: None, replaces, hashes: true };
        let (counted, clock) = (Arc::clone(&progress), Arc::clone(gateway.clock()));
        let work = TransferContext { directory, options: options.clone(), progress: counted, clock, end };
        let saved = waited(save(&origin, target, work), &progress, audience, end).await;
        let platform = origin.order.platform;

        match saved {
            None => Ok(SavedInstaller::late(platform, shown, &progress)),
            Some(Err(SaveError::File(failure) | SaveError::Disk(failure))) => Err(failure),
            Some(Ok(saved)) => Ok(SavedInstaller::of(platform, shown, saved)),
        }
    }
}

impl SavedInstaller {
    fn of(platform: MinionPlatform, path: String, saved: SaveOutcome) -> Self {
        let SaveOutcome { size, is_kept: kept, sha256 } = saved;
        let (size, progress, hint) = (Some(size), None, None);
        Self { status: "downloaded", platform, path, size, sha256, kept, progress, hint }
    }

    fn late(platform: MinionPlatform, path: String, progress: &DownloadProgress) -> Self {
        let (progress, hint) = (Some(progress.describe()), Some(LATE));
        let (size, sha256, kept) = (None, None, false);
        Self { status: "downloading", platform, path, size, sha256, kept, progress, hint }
    }
}

/// Waits for a file, as long as the audience does, and tells it how far it has come.
async fn waited<T>(
    saving: impl Future<Output = T>,
    progress: &DownloadProgress,
    audience: &CallerContext,
    end: Option<Instant>,
) -> Option<T> {
    let mut saving = std::pin::pin!(saving);
    let mut ticks = tokio::time::interval(INTERVAL);

    loop {
        tokio::select! {
            saved = &mut saving => {
                tell(progress, audience);
                return Some(saved);
            }
            () = sleep_until(end) => return None,
            _ = ticks.tick() => tell(progress, audience),
        }
    }
}

/// An installer where the service says that it lies.
struct InstallerSource {
    gateway: Gateway,
    storage: Arc<StorageClient>,
    order: InstallerRequest,
    /// An address that was not used yet: each is good for a while only.
    address: Mutex<Option<String>>,
}

impl InstallerSource {
    /// A fresh address.
    async fn ask(&self) -> Result<String, Failure> {
        let entry = catalog::find(GetMinionDownload::NAME)
            .ok_or_else(|| Failure::new(Code::NotFound, "there is no operation `get_minion_download`"))?;
        let mut arguments = Fields::from_iter([("platform".to_owned(), json!(self.order.platform))]);

        if let Some(project) = &self.order.project {
            arguments.insert(PROJECT_ID.to_owned(), json!(project));
        }

        let reply = self.gateway.call(entry, arguments).await?;
        let address = reply.value().get("download_url").and_then(Value::as_str);

        address
            .map(str::to_owned)
            .ok_or_else(|| Failure::new(Code::BadResponse, "download_minion: the service names no address"))
    }

    fn remember(&self, address: String) {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
    }

    fn remembered(&self) -> Option<String> {
        self.address.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl DownloadSource for InstallerSource {
    async fn open(&self, rest: &ResumeFrom) -> Result<DownloadStream, Refusal> {
        let address = match self.remembered() {
            Some(address) => address,
            None => self.ask().await?,
        };
        match self.storage.get(&address, rest).await {
            Ok(DownloadResponse::Stream(arriving)) => Ok(arriving),
            Ok(DownloadResponse::Other(answer)) => Err(refusal(&answer)),
            Err(error) => {
                let (is_transient, wait) = match &error {
                    StorageError::Transient { retry_after, .. } => (true, *retry_after),
                    _ => (false, None),
                };
                let code = if is_transient { Code::ServiceUnavailable } else { Code::BadResponse };
                let failure = Failure::new(code, format!("download_minion: {error}"));
                Err(Refusal { failure: failure.hint("call again later"), is_transient, wait })
            }
        }
    }
}

/// What the storage host has instead of the file.
fn refusal(answer: &HttpResponse) -> Refusal {
    let status = answer.status;
    let fail = |code, what: String| Failure::new(code, format!("download_minion: {what}")).status(status);
    let wait = answer.retry_after;
    if let Some(why) = &answer.file.redirect_error {
        return fail(Code::BadResponse, format!("the redirect to the installer {why}")).into();
    }

    let (code, is_transient) = match status {
        _ if reports_expired_address(status, &answer.body) => (Code::Rejected, true),
        404 => (Code::NotFound, false),
        429 => (Code::RateLimited, true),
        408 | 500.. => (Code::ServiceUnavailable, true),
        _ => (Code::Rejected, false),
    };

    let words = quote(String::from_utf8_lossy(&answer.body).trim());
    let failure = fail(code, format!("the storage host answered {status}")).hint("call again later");

    Refusal { failure: failure.detail("service_error", words), is_transient, wait }
}

/// The last segment of an address, where it can be the name of a file.
fn file_name(address: &str) -> Result<String, Failure> {
    let url = Url::parse(address).ok();
    let last = url.as_ref().and_then(|url| url.path_segments()?.next_back());
    let name = last.map(|last| percent_decode_str(last).decode_utf8_lossy().into_owned()).unwrap_or_default();
    let problem = if name.contains('/') { Some("has a directory") } else { plan::problem(&name) };

    match problem {
        None => Ok(name),
        Some(problem) => Err(Failure::new(
            Code::BadResponse,
            format!("download_minion: the name of the installer {problem}: nothing was saved"),
        )
        .hint("take the address of `get_minion_download` and save it under a name of your own")),
    }
}
