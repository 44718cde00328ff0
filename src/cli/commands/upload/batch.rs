//! The files of one upload command: their names and patterns, the checks before the first request, and the upload of each.

use std::{
    io,
    path::{Component, MAIN_SEPARATOR, Path, PathBuf},
    sync::Arc,
};

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::UploadArguments;
use crate::{
    call::{Caller, CheckedArguments, RequestPreview, ToolArguments},
    cli::{calls::confirm, exit_status::CommandError, tool_arguments::fields},
    failure::{Code, Failure},
    home_path::expand_home,
    tools::{
        catalog::ListedTool as _,
        composite::UploadBuild,
        context::CallerWithFiles,
        files::{FilesRoot, TransferProgress, compile_pattern, file_error, read_error},
        upload::{
            BuildArguments, FileServices, FinishedUpload, UploadEnd, UploadJob, UploadRequest,
            origin::{BuildOrigin, CiJob},
        },
    },
};

struct UploadBatch<'a> {
    caller: &'a Caller,
    files: &'a FileServices,
    root: FilesRoot,
    build: BuildArguments,
    origin: BuildOrigin,
    project: Option<String>,
}

/// The upload of one file. The file is opened when its upload starts, because a process may have only a limited number
/// of open files.
pub(super) struct FileUpload<'a> {
    pub(super) path: String,
    pub(super) progress: Arc<TransferProgress>,
    batch: Arc<UploadBatch<'a>>,
}

impl UploadBatch<'_> {
    fn request<'b>(&'b self, path: &'b str) -> UploadRequest<'b> {
        UploadRequest {
            path,
            project: self.project.as_deref(),
            build: self.build.clone(),
            origin: &self.origin,
            method: "cli",
        }
    }
}

impl FileUpload<'_> {
    pub(super) async fn preview(self) -> Result<RequestPreview, Failure> {
        self.job()?.preview().await
    }

    /// Uploads the file. Returns its path and the outcome.
    pub(super) async fn run(self) -> (String, Result<FinishedUpload, Failure>) {
        let outcome = match self.job() {
            Ok(job) => job.run().await,
            Err(failure) => Err(failure),
        };
        let outcome = outcome.and_then(|end| match end {
            UploadEnd::Finished(build) => Ok(*build),
            // Only calls of hosts are paused.
            UploadEnd::Paused { .. } => Err(Failure::new(Code::Cancelled, "upload: paused")),
        });

        (self.path, outcome)
    }

    fn job(&self) -> Result<UploadJob, Failure> {
        let Self { path, progress, batch } = self;
        batch.request(path).into_job(Arc::clone(progress), batch.caller, batch.files, &batch.root)
    }
}

/// Checks everything that can be checked without a request, for all files.
pub(super) async fn prepare_uploads<'a>(
    arguments: &'a UploadArguments,
    tools: &'a CallerWithFiles,
) -> Result<Vec<FileUpload<'a>>, CommandError> {
    let CallerWithFiles { caller, files } = tools;
    let root = files.root_for_user()?;
    let paths = expand_names(&root, arguments.files.iter()).map_err(CommandError::Failures)?;
    if paths.len() > 1 && arguments.name.is_some() {
        let message = format!("upload: `--name` is for a single file, but there are {}", paths.len());
        return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent").into());
    }

    let (build, project) = check_build(arguments, caller, &paths).await?;
    let origin = origin(arguments).or(files.origin().clone());
    let batch = Arc::new(UploadBatch { caller, files, root, build, origin, project });
    // Every file is checked before the first upload, so that a typing error does not leave half of the builds.
    let (mut uploads, mut failures) = (Vec::new(), Vec::new());
    for path in paths {
        match batch.request(&path).check_file(&batch.root) {
            Ok(progress) => uploads.push(FileUpload { path, progress, batch: Arc::clone(&batch) }),
            Err(failure) => failures.push(failure.detail("path", path)),
        }
    }

    if failures.is_empty() { Ok(uploads) } else { Err(CommandError::Failures(failures)) }
}

fn origin(arguments: &UploadArguments) -> BuildOrigin {
    let UploadArguments { commit, branch, run_url, .. } = arguments;
    BuildOrigin {
        job: CiJob { run_url: run_url.clone(), ..CiJob::default() },
        commit: commit.clone(),
        branch: branch.clone(),
        ..BuildOrigin::default()
    }
}

/// Returns the checked arguments of all builds, and the project. Asks the user at the terminal if a confirmation is
/// required.
async fn check_build(
    arguments: &UploadArguments,
    caller: &Caller,
    paths: &[String],
) -> Result<(BuildArguments, Option<String>), CommandError> {
    let mut own = fields(arguments)?;
    own.insert("path".to_owned(), json!(paths.first()));
    let arguments = ToolArguments::new(own, arguments.change.common());
    let checked = match caller.check(&UploadBuild::tool(), arguments.clone()) {
        Ok(checked) => checked,
        Err(failure) => {
            confirm(caller, &arguments, failure).await?;
            caller.check(&UploadBuild::tool(), arguments.confirmed())?
        }
    };

    let CheckedArguments { own, project_id, .. } = checked;
    let build = serde_json::from_value(Value::Object(own)).map_err(|error| {
        Failure::new(Code::InvalidArguments, format!("upload: {error}")).hint("nothing was sent")
    })?;

    Ok((build, project_id))
}

/// Returns the files in the order of `names`, each file once.
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

    let is_fixed = |component: &Component<'_>| !is_pattern(&component.as_os_str().to_string_lossy());
    let components = Path::new(name).components();
    let directory: PathBuf = root.path().join(components.clone().take_while(is_fixed).collect::<PathBuf>());
    let variable = components.skip_while(is_fixed).map(|one| one.as_os_str().to_string_lossy());
    let segments: Vec<_> = variable.collect();

    let pattern = compile_pattern(&segments.join("/")).map_err(|problem| {
        let message = format!("upload: `{name}` is not a pattern: {problem}");
        Failure::new(Code::InvalidArguments, message).hint("nothing was sent")
    })?;
    let depth = if name.contains("**") { usize::MAX } else { segments.len() };
    let mut files = Vec::new();
    add_files_below(root, &directory, depth, &mut files)?;

    files.retain(|path| {
        let below = path.strip_prefix(&directory).unwrap_or(path).to_string_lossy();
        pattern.is_match(below.replace(MAIN_SEPARATOR, "/"))
    });
    files.sort();
    if files.is_empty() {
        return Err(file_error(name, "matches no file").hint("nothing was sent"));
    }
    Ok(files.iter().map(|path| relative_name(root, path)).collect())
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// Adds the regular files of `directory` and of the directories in it, down to `depth` levels. Links to directories are not
/// followed.
fn add_files_below(
    root: &FilesRoot,
    directory: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
) -> Result<(), Failure> {
    let unreadable = |error: io::Error| {
        read_error(&relative_name(root, directory), &error)
            .hint("the pattern may match files in it; nothing was sent")
    };
    let entries = match directory.read_dir() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(unreadable)?,
    };

    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        if !entry.file_type().map_err(unreadable)?.is_dir() {
            files.extend(Some(entry.path()).filter(|path| path.is_file()));
        } else if depth > 1 {
            add_files_below(root, &entry.path(), depth - 1, files)?;
        }
    }
    Ok(())
}

fn relative_name(root: &FilesRoot, path: &Path) -> String {
    path.strip_prefix(root.path()).unwrap_or(path).to_string_lossy().into_owned()
}
