//! The files of one command, and the upload of each file.

use std::sync::Arc;

use clap::ArgMatches;
use serde_json::Value;

use super::{
    file_names::expand_names,
    flags::{FILES, NAME, NO_CHECKSUM, NO_FILL_DETAILS, RESUME, tool_arguments},
};
use crate::{
    call::{Caller, CheckedArguments},
    cli::{command_error::CommandError, confirmation::confirm},
    failure::{Code, Failure},
    tools::{
        catalog::ListedTool as _,
        composite::UploadBuild,
        context::CallerWithFiles,
        files::FilesRoot,
        upload::{BuildArguments, FileServices, FinishedUpload, UploadHandle, UploadMethod, UploadRequest},
    },
};

/// What all files of a command have in common.
struct UploadBatch<'a> {
    matches: &'a ArgMatches,
    caller: &'a Caller,
    files: &'a FileServices,
    root: FilesRoot,
    build: BuildArguments,
    project: Option<String>,
}

/// The upload of one file. The file is opened when its upload starts, because a process may have only a limited number
/// of open files.
pub(super) struct FileUpload<'a> {
    pub(super) path: String,
    pub(super) handle: UploadHandle,
    batch: Arc<UploadBatch<'a>>,
}

impl UploadBatch<'_> {
    fn request<'b>(&'b self, path: &'b str) -> UploadRequest<'b> {
        UploadRequest {
            path,
            project: self.project.as_deref(),
            build: self.build.clone(),
            fills_details: !self.matches.get_flag(NO_FILL_DETAILS),
            method: UploadMethod::CommandLine,
            resumes: self.matches.get_flag(RESUME),
            hashes: !self.matches.get_flag(NO_CHECKSUM),
        }
    }
}

impl FileUpload<'_> {
    /// Uploads the file. Returns its path and the outcome.
    pub(super) async fn run(self) -> (String, Result<FinishedUpload, Failure>) {
        let Self { path, handle, batch } = self;
        let request = batch.request(&path);
        let job = request.into_job_with(handle, batch.caller, batch.files, &batch.root).await;
        let outcome = match job {
            Ok(job) => job.run().await,
            Err(failure) => Err(failure),
        };

        (path, outcome)
    }
}

/// Checks everything that can be checked without a request, for all files.
///
/// # Errors
/// All failures of the checks.
pub(super) fn prepare_uploads<'a>(
    matches: &'a ArgMatches,
    tools: &'a CallerWithFiles,
) -> Result<Vec<FileUpload<'a>>, CommandError> {
    let CallerWithFiles { caller, files } = tools;
    let root = files.upload_root_for_user()?;
    let names = matches.get_many::<String>(FILES).into_iter().flatten();
    let paths = expand_names(&root, names).map_err(CommandError::Failures)?;
    if paths.len() > 1 && matches.contains_id(NAME) {
        let message = format!("upload: `--{NAME}` is for a single file, but there are {}", paths.len());
        return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent").into());
    }

    let (build, project) = check_build(matches, caller, &paths)?;
    let batch = Arc::new(UploadBatch { matches, caller, files, root, build, project });
    // Every file is checked before the first upload, so that a typing error does not leave half of the builds.
    let (mut uploads, mut failures) = (Vec::new(), Vec::new());
    for path in paths {
        match batch.request(&path).check_file(&batch.root) {
            Ok(handle) => uploads.push(FileUpload { path, handle, batch: Arc::clone(&batch) }),
            Err(failure) => failures.push(failure.detail("path", path)),
        }
    }

    if failures.is_empty() { Ok(uploads) } else { Err(CommandError::Failures(failures)) }
}

/// Returns the checked arguments of all builds, and the project. Asks the user at the terminal if a confirmation is
/// required.
fn check_build(
    matches: &ArgMatches,
    caller: &Caller,
    paths: &[String],
) -> Result<(BuildArguments, Option<String>), CommandError> {
    let arguments = tool_arguments(matches, paths);
    let checked = match caller.check(&UploadBuild::tool(), arguments.clone()) {
        Ok(checked) => checked,
        Err(failure) => {
            confirm(failure)?;
            caller.check(&UploadBuild::tool(), arguments.confirmed())?
        }
    };

    let CheckedArguments { own, project_id, .. } = checked;
    let build = serde_json::from_value(Value::Object(own)).map_err(|error| {
        Failure::new(Code::InvalidArguments, format!("upload: {error}")).hint("nothing was sent")
    })?;

    Ok((build, project_id))
}
