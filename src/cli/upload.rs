//! `tas-mcp upload`: files become builds.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Exit, Signals,
    call::{YES, agreed},
    complain,
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::tool::{CONFIRM, PROJECT_ID},
    settings::Settings,
    tools::{
        catalog,
        composite::{CompositeTool as _, UploadBuild},
        dispatcher::Dispatcher,
        files::FilesRoot,
        upload::{FileServices, FinishedUpload, UploadHandle, UploadRequest},
    },
};

mod bars;
mod names;
mod telling;

use bars::Bars;
use telling::Told;

/// Files under way at once (supplement 16).
const AT_ONCE: usize = 4;

const FILES: &str = "files";
const TAG: &str = "tag";
const AUTO_DELETE: &str = "auto-delete";
const NO_FILL_DETAILS: &str = "no-fill-details";
const NO_CHECKSUM: &str = "no-checksum";
const RESUME: &str = "resume";

/// Flags with a value: the argument of the tool, the placeholder, and what it means.
const VALUES: [(&str, &str, &str); 8] = [
    ("name", "NAME", "Name of the build, for one file only. Default: the file name"),
    (
        "platform",
        "PLATFORM",
        "windows, macos, linux, android, ios-native, ios-simulator, xbox or playstation. Default: by the file name",
    ),
    ("description", "TEXT", "Up to 1000 characters"),
    (
        "details",
        "JSON",
        "Where the build comes from: an object with the parts vcs, ci, app, build and upload",
    ),
    (
        "deletion_policy",
        "WORD",
        "With --auto-delete, which builds go first: least_recent or oldest. Default: least_recent",
    ),
    (
        "upload_timeout",
        "MINUTES",
        "How long the service keeps what has arrived, 1 to 1440. Default: by size, at least 60",
    ),
    ("multipart", "BOOL", "false: send the file in one piece. Default: true"),
    (PROJECT_ID, "ID", "Project, where the settings name none"),
];

/// The command.
pub fn command() -> Command {
    let files = Arg::new(FILES).value_name("FILE").num_args(1..).required(true);
    let tag = Arg::new(TAG).long(TAG).value_name("TAG").action(ArgAction::Append);
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let values = VALUES.map(|(name, placeholder, help)| {
        Arg::new(name).long(name.replace('_', "-")).value_name(placeholder).help(help)
    });

    Command::new("upload")
        .about("Uploads files as builds; prints a JSON object for each in a pipe, a table on a terminal")
        .after_help(format!(
            "An interrupt cancels the uploads at the service; a second one ends at once, and --resume goes on later.\n{}",
            Exit::HELP
        ))
        .arg(files.help("Files to upload, or patterns such as `out/*.apk`"))
        .args(values)
        .arg(tag.help("A tag of 1 to 50 characters; may be repeated"))
        .arg(switch(AUTO_DELETE, "Delete old builds for good when the storage is full"))
        .arg(switch(YES, "Do not ask first: a person agreed to --auto-delete"))
        .arg(switch(NO_FILL_DETAILS, "Do not fill the details from git and CI"))
        .arg(switch(NO_CHECKSUM, "Do not make the SHA-256 of the files: less work on a very fast network"))
        .arg(switch(RESUME, "Go on with an unfinished upload of the same file, instead of cancelling it"))
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let dispatcher = Dispatcher::new(settings.tools_config());
    let jobs = match prepared(matches, &dispatcher)? {
        Ok(jobs) => jobs,
        Err(failures) => {
            let exits: Vec<_> = failures.iter().map(complain).collect();
            return Ok(exits.first().copied().unwrap_or(Exit::Unusable));
        }
    };

    let tokens: Vec<_> = jobs.iter().map(|job| job.handle.cancelled.clone()).collect();
    let bars = Bars::new(jobs.iter().map(|job| (job.path.as_str(), Arc::clone(&job.handle.progress))));

    tokio::select! {
        exit = uploaded(jobs, &bars, interrupted_twice(&tokens)) => exit,
        () = bars.draw() => Ok(Exit::Done),
    }
}

/// One file and what is to be done with it. It is opened when its turn comes: a process may hold only so many.
struct Job<'a> {
    path: String,
    handle: UploadHandle,
    batch: Arc<Batch<'a>>,
}

/// What all the files have in common.
struct Batch<'a> {
    matches: &'a ArgMatches,
    dispatcher: &'a Dispatcher,
    files: &'a FileServices,
    root: FilesRoot,
    options: Fields,
    project: Option<String>,
}

impl Batch<'_> {
    fn order<'b>(&'b self, path: &'b str) -> UploadRequest<'b> {
        UploadRequest {
            path,
            project: self.project.as_deref(),
            options: self.options.clone(),
            fills_details: !self.matches.get_flag(NO_FILL_DETAILS),
            method: "cli",
            resumes: self.matches.get_flag(RESUME),
            hashes: !self.matches.get_flag(NO_CHECKSUM),
        }
    }
}

impl Job<'_> {
    async fn run(self) -> (String, Result<FinishedUpload, Failure>) {
        let Self { path, handle, batch } = self;
        let order = batch.order(&path);
        let outcome = match order.checked(handle, batch.dispatcher.gateway(), batch.files, &batch.root).await
        {
            Ok(job) => job.run().await,
            Err(failure) => Err(failure),
        };

        (path, outcome)
    }
}

/// Everything that can be known before a request is checked for all the files first.
fn prepared<'a>(
    matches: &'a ArgMatches,
    dispatcher: &'a Dispatcher,
) -> anyhow::Result<Result<Vec<Job<'a>>, Vec<Failure>>> {
    let one = |failure: Failure| Ok(Err(vec![failure]));
    let (files, root) = match dispatcher.files().and_then(|files| Ok((files, files.root_for_person()?))) {
        Ok(files) => files,
        Err(failure) => return one(failure),
    };
    let names = matches.get_many::<String>(FILES).into_iter().flatten();
    let paths = match names::expanded(&root, names) {
        Ok(paths) => paths,
        Err(failures) => return Ok(Err(failures)),
    };
    if paths.len() > 1 && matches.contains_id("name") {
        let message = format!("upload: `--name` is for one file, and there are {}", paths.len());
        return one(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"));
    }

    let (options, project) = match admitted(matches, dispatcher, &paths)? {
        Ok(admitted) => admitted,
        Err(failure) => return one(failure),
    };
    let batch = Arc::new(Batch { matches, dispatcher, files, root, options, project });
    let (mut jobs, mut failures) = (Vec::new(), Vec::new());

    for path in paths {
        match batch.order(&path).check(&batch.root) {
            Ok(handle) => jobs.push(Job { path, handle, batch: Arc::clone(&batch) }),
            Err(failure) => failures.push(failure.detail("path", path)),
        }
    }

    Ok(if failures.is_empty() { Ok(jobs) } else { Err(failures) })
}

/// The checked options of all the files, and the project.
fn admitted(
    matches: &ArgMatches,
    dispatcher: &Dispatcher,
    paths: &[String],
) -> anyhow::Result<Result<(Fields, Option<String>), Failure>> {
    let Some(tool) = catalog::find_tool(UploadBuild::NAME) else {
        return Ok(Err(Failure::new(Code::NotFound, "there is no tool to upload with")));
    };
    let given = arguments(matches, paths);
    let mut checked = given.clone();
    let mut outcome = dispatcher.admit(tool.tool(), &mut checked);

    if let Err(failure) = &outcome
        && failure.code == Code::ConfirmationRequired
        && agreed(failure)?
    {
        checked = given;
        checked.insert(CONFIRM.to_owned(), Value::Bool(true));
        outcome = dispatcher.admit(tool.tool(), &mut checked);
    }

    Ok(outcome.map(|project| (UploadBuild::options(checked), project)))
}

/// The arguments of the tool that the flags make.
fn arguments(matches: &ArgMatches, paths: &[String]) -> Fields {
    let mut arguments = Fields::from_iter([("path".to_owned(), json!(paths.first()))]);
    for (name, ..) in VALUES {
        if let Some(value) = matches.get_one::<String>(name) {
            arguments.insert(name.to_owned(), Value::from(value.as_str()));
        }
    }

    if let Some(tags) = matches.get_many::<String>(TAG) {
        arguments.insert("tags".to_owned(), tags.map(String::as_str).collect());
    }

    if matches.get_flag(AUTO_DELETE) {
        arguments.insert("auto_delete".to_owned(), Value::Bool(true));
    }

    if matches.get_flag(YES) {
        arguments.insert(CONFIRM.to_owned(), Value::Bool(true));
    }

    arguments
}

/// Uploads the files and tells of each when it ends; of none any more when `stopped` comes first.
async fn uploaded(
    jobs: Vec<Job<'_>>,
    bars: &Bars,
    stopped: impl Future<Output = ()>,
) -> anyhow::Result<Exit> {
    let mut told = Told::new();
    let mut outcomes = stream::iter(jobs.into_iter().map(Job::run)).buffer_unordered(AT_ONCE);
    let mut stopped = std::pin::pin!(stopped);

    loop {
        tokio::select! {
            biased;
            ended = outcomes.next() => {
                let Some((path, outcome)) = ended else { break };
                bars.aside(|| told.tell(path, outcome));
            }
            () = &mut stopped => {
                let failure = Failure::new(Code::Cancelled, "upload: ended at once")
                    .hint("call again with --resume to go on, without it to cancel what remains");
                bars.aside(|| told.stop(&failure));
                break;
            }
        }
    }

    bars.finish();

    told.end()
}

/// The first request to end cancels the uploads at the service; ends with the second.
async fn interrupted_twice(tokens: &[CancellationToken]) {
    let mut signals = Signals::new();
    signals.next().await;
    tokens.iter().for_each(CancellationToken::cancel);
    signals.next().await;
}
