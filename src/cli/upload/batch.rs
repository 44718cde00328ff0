//! The files of one upload command: their names and patterns, the checks before the first request, and the upload of each.

use std::{path::Path, sync::Arc};

use clap::ArgMatches;
use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{AUTO_DELETE, FILES, NAME, NO_CHECKSUM, NO_FILL_DETAILS, RESUME, TAG, VALUE_FLAGS};
use crate::{
    call::{
        Caller, CheckedArguments,
        arguments::{CommonArguments, ToolArguments},
    },
    cli::{
        calls::{YES, confirm},
        exit_status::CommandError,
    },
    failure::{Code, Failure},
    fields::Fields,
    home_path::expand_home,
    service::tool::PROJECT_ID,
    tools::{
        catalog::ListedTool as _,
        composite::UploadBuild,
        context::CallerWithFiles,
        files::{FilesRoot, SearchError, file_error, find_files, is_pattern, read_error},
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

/// Returns the arguments of the tool `upload_build` for the first of the files.
fn tool_arguments(matches: &ArgMatches, paths: &[String]) -> ToolArguments {
    let mut arguments = Fields::from_iter([("path".to_owned(), json!(paths.first()))]);
    for (name, ..) in VALUE_FLAGS {
        // The project is not an argument of the tool itself.
        if name != PROJECT_ID
            && let Some(value) = matches.get_one::<String>(name)
        {
            arguments.insert(name.to_owned(), Value::from(value.as_str()));
        }
    }

    if let Some(tags) = matches.get_many::<String>(TAG) {
        arguments.insert("tags".to_owned(), tags.map(String::as_str).collect());
    }

    if matches.get_flag(AUTO_DELETE) {
        arguments.insert("auto_delete".to_owned(), Value::Bool(true));
    }

    let project_id = matches.get_one::<String>(PROJECT_ID).cloned();
    let is_confirmed = matches.get_flag(YES);

    ToolArguments::new(arguments, CommonArguments { project_id, is_confirmed, ..CommonArguments::default() })
}

/// Returns the files in the order of `names`, each file once.
///
/// # Errors
/// The failures of all names.
fn expand_names<'a>(
    root: &FilesRoot,
    names: impl Iterator<Item = &'a String>,
) -> Result<Vec<String>, Vec<Failure>> {
    let (mut files, mut failures) = (IndexMap::new(), Vec::new());
    for name in names {
        let matches = expand_name(root, &expand_home(name)).unwrap_or_else(|failure| {
            failures.push(failure);
            Vec::new()
        });

        for file in matches {
            match root.resolve_file(&file) {
                Ok(path) => drop(files.entry(path).or_insert(file)),
                Err(failure) => failures.push(failure),
            }
        }
    }

    if failures.is_empty() { Ok(files.into_values().collect()) } else { Err(failures) }
}

/// Returns the files that `name` matches. A name that is not a pattern, or that is the name of a file, matches itself.
fn expand_name(root: &FilesRoot, name: &str) -> Result<Vec<String>, Failure> {
    if !is_pattern(name) || root.path().join(name).exists() {
        return Ok(vec![name.to_owned()]);
    }

    let files = find_files(root.path(), name).map_err(|error| match error {
        SearchError::Pattern(problem) => {
            let message = format!("upload: `{name}` is not a pattern: {problem}");
            Failure::new(Code::InvalidArguments, message).hint("nothing was sent")
        }
        SearchError::Unreadable(directory, error) => read_error(&relative_name(root, &directory), &error)
            .hint("the pattern may match files in it; nothing was sent"),
    })?;

    if files.is_empty() {
        Err(file_error(name, "matches no file").hint("nothing was sent"))
    } else {
        Ok(files.iter().map(|path| relative_name(root, path)).collect())
    }
}

/// Returns the path relative to the root, as a user would write it.
fn relative_name(root: &FilesRoot, path: &Path) -> String {
    path.strip_prefix(root.path()).unwrap_or(path).to_string_lossy().into_owned()
}
