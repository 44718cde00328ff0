//! The request to upload a file, and the arguments of its initiation that the caller did not set.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{FileServices, UploadJob, origin::BuildOrigin, session::UploadSession, source::SourceFile};
use crate::{
    call::Caller,
    failure::{Failure, Violation},
    service::api::{
        builds::BuildPlatform,
        uploads::{BuildOptions, InitiateBuildUpload, UploadedFile},
    },
    text::quoted_argument,
    tools::{
        files::{FilesRoot, TransferProgress},
        project_client::ProjectClient,
    },
};

/// Lowest rate that the time limit of an upload allows for, in bytes a minute: 256 KiB/s, a slow line at home.
const SLOWEST_RATE: u64 = 60 * 256 * 1024;

/// Default and maximum time limit of a multipart upload, in minutes (service.md 10.4). The default for a single-part
/// upload is 10.
const DEFAULT_MINUTES: u16 = 60;
const MAX_MINUTES: u16 = 1_440;

// The arguments of a build that do not depend on where the file is. No doc comment, because it would become part of the
// descriptions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct BuildArguments {
    /// 1-255 characters; default: the file name.
    #[schemars(length(min = 1, max = 255))]
    pub name: Option<String>,
    /// Default: from the file name.
    pub platform: Option<BuildPlatform>,
    /// Upload in parts; default true.
    #[schemars(extend("default" = true))]
    pub multipart: Option<bool>,
    /// Minutes, 1-1440; default: by size, at least 60.
    #[schemars(range(min = 1, max = 1440))]
    pub upload_timeout: Option<u16>,
    #[serde(flatten)]
    pub options: BuildOptions,
}

impl BuildArguments {
    /// Returns the initiation of the upload of `file`, with the arguments that follow from its name.
    ///
    /// # Errors
    /// `invalid_arguments` if the platform cannot be derived from the file name.
    fn into_initiation(self, file: UploadedFile) -> Result<InitiateBuildUpload, Failure> {
        Ok(InitiateBuildUpload {
            project_id: None,
            name: self.name.unwrap_or_else(|| file.file_name.clone()),
            platform: self.platform.map_or_else(|| require_platform(&file.file_name), Ok)?,
            file,
            multipart: Some(self.multipart.unwrap_or(true)),
            upload_timeout: self.upload_timeout,
            options: self.options,
        })
    }
}

/// Returns the platform that the extension of `file_name` stands for, if it stands for exactly one (service.md 16).
pub fn platform_from_file_name(file_name: &str) -> Option<BuildPlatform> {
    let (_, extension) = file_name.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "apk" => BuildPlatform::Android,
        "ipa" => BuildPlatform::IosNative,
        "exe" | "msi" => BuildPlatform::Windows,
        "dmg" | "pkg" => BuildPlatform::Macos,
        "deb" | "rpm" | "appimage" => BuildPlatform::Linux,
        _ => return None,
    })
}

/// The platforms of builds (service.md 10).
pub const PLATFORMS: [&str; 8] =
    ["windows", "macos", "linux", "android", "ios-native", "ios-simulator", "xbox", "playstation"];

fn require_platform(file_name: &str) -> Result<BuildPlatform, Failure> {
    platform_from_file_name(file_name).ok_or_else(|| {
        let name = quoted_argument(file_name);
        let known = PLATFORMS.join(", ");
        let rule = format!("is required, one of {known}: it cannot be derived from the file name `{name}`");
        Failure::invalid_arguments("upload_build", &[Violation::new("platform", rule)])
    })
}

/// Returns how long the upload may take. Sets `upload_timeout` if the caller did not set it and a slow line needs more
/// time than the service gives by default.
fn choose_time_limit(initiation: &mut InitiateBuildUpload) -> Duration {
    let needed = u16::try_from(initiation.file.file_size.div_ceil(SLOWEST_RATE)).unwrap_or(u16::MAX);
    let needed = needed.clamp(DEFAULT_MINUTES, MAX_MINUTES);

    if initiation.multipart == Some(false) || needed > DEFAULT_MINUTES {
        initiation.upload_timeout.get_or_insert(needed);
    }

    Duration::from_secs(60 * u64::from(initiation.upload_timeout.unwrap_or(needed)))
}

/// A request to upload a file.
#[derive(Debug)]
pub(crate) struct UploadRequest<'a> {
    /// Name of the file as the caller wrote it.
    pub(crate) path: &'a str,
    /// Project, if the caller names one.
    pub(crate) project: Option<&'a str>,
    pub(crate) build: BuildArguments,
    /// Fills in `details`.
    pub(crate) origin: &'a BuildOrigin,
    /// How the upload was requested, for `details.upload.method`: `cli` or `mcp`.
    pub(crate) method: &'static str,
}

impl UploadRequest<'_> {
    /// Checks the file without keeping it open. Returns the progress for [`Self::into_job`].
    pub(crate) fn check_file(&self, root: &FilesRoot) -> Result<Arc<TransferProgress>, Failure> {
        let source = SourceFile::open(root, self.path)?;
        if self.build.platform.is_none() {
            require_platform(&source.file_name())?;
        }
        Ok(Arc::new(TransferProgress::new(source.size())))
    }

    /// Opens the file and fills in the arguments that the caller did not set. `progress` is that of [`Self::check_file`].
    ///
    /// # Errors
    /// `file_error`, also if the size of the file has changed; `invalid_arguments` if the platform cannot be derived from the
    /// file name.
    pub(crate) fn into_job(
        self,
        progress: Arc<TransferProgress>,
        caller: &Caller,
        files: &FileServices,
        root: &FilesRoot,
    ) -> Result<UploadJob, Failure> {
        let source = SourceFile::open(root, self.path)?;
        if source.size() != progress.total() {
            return Err(source.modified_error());
        }

        let file = UploadedFile { file_name: source.file_name(), file_size: 0 };
        let mut initiation = self.build.into_initiation(file)?;

        // Only what follows from the request identifies an unfinished upload: the size may differ at the next attempt, and so may
        // the details of a CI job.
        let request = json!(initiation).to_string();
        initiation.file.file_size = source.size();
        let time_limit = choose_time_limit(&mut initiation);
        add_details(&mut initiation, self.origin, self.method);

        let client = ProjectClient { caller: caller.clone(), project: self.project.map(str::to_owned) };
        let session = UploadSession {
            client,
            timing: files.config.timing.clone(),
            deadline: Duration::ZERO,
            cancelled: CancellationToken::new(),
        };

        Ok(UploadJob {
            session,
            storage: Arc::clone(&files.storage),
            source,
            initiation,
            progress,
            time_limit,
            pause_at: None,
            states: files.config.state.as_ref().map(|state| state.join("uploads")),
            request,
        })
    }
}

/// Adds the parts of `details` that the caller did not set.
fn add_details(initiation: &mut InitiateBuildUpload, origin: &BuildOrigin, method: &str) {
    let upload = json!({"method": method, "cli_version": env!("CARGO_PKG_VERSION")});
    let details = initiation.options.details.get_or_insert_default();
    for (part, value) in origin.details().into_iter().chain([("upload", Some(upload))]) {
        if let Some(value) = value {
            details.entry(part).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_follows_from_the_size() {
        const GIB: u64 = 1 << 30;

        let cases = [
            (json!({"multipart": true}), 1, 60, None),
            (json!({"multipart": false}), 1, 60, Some(60)),
            (json!({"multipart": true}), 10 * GIB, 683, Some(683)),
            (json!({"multipart": true}), 100 * GIB, 1_440, Some(1_440)),
            (json!({"multipart": true, "upload_timeout": 5}), 10 * GIB, 5, Some(5)),
        ];
        for (given, file_size, minutes, timeout) in cases {
            let build: BuildArguments = serde_json::from_value(given.clone()).expect("arguments");
            let file = UploadedFile { file_name: "a.apk".to_owned(), file_size };
            let mut initiation = build.into_initiation(file).expect("a platform");

            let limit = choose_time_limit(&mut initiation);

            assert_eq!(limit, Duration::from_secs(60 * minutes), "{given} {file_size}");
            assert_eq!(initiation.upload_timeout, timeout, "{given} {file_size}");
        }
    }
}
