//! `tas-mcp download`: saves the files of a run, or the Minion installer.

use std::{path::PathBuf, sync::Arc};

use clap::{ArgMatches, Args, Command, FromArgMatches as _, value_parser};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::{
    calls::build_caller_with_files,
    command_line_text::quoted,
    exit_status::{CommandError, ExitStatus},
    file_flags::path_value,
    help::help_end,
    name_completion::{NameKind, name_completions},
    name_resolution::{Latest, NameResolver},
    named_arguments::is_result_id,
    output::{JsonFlag, print_json_or_table, print_line, prints_json, status_after_output},
    table::Table,
};
use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::{api::minions::MinionPlatform, result_kind::ResultKind},
    settings::Settings,
    text::{most_similar, single_line},
    tools::{
        call_options::{CallOptions, ProgressSink},
        composite::minion_platform,
        context::CallerWithFiles,
        download::{DownloadOptions, DownloadReport, DownloadRequest, InstallerRequest, SavedInstaller},
        files::Destination,
        upload::FileServices,
    },
    violation::Violation,
};

const EXAMPLES: [&str; 2] = ["tas-mcp download run latest", "tas-mcp download minion"];
const RUN_EXAMPLES: [&str; 2] = [
    "tas-mcp download run latest",
    r#"tas-mcp download run "Pause and resume" --pattern '*.png' --to pictures"#,
];
const MINION_EXAMPLES: [&str; 1] = ["tas-mcp download minion --platform linux-x86_64 --to installers"];

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    Command::new("download")
        .about("Saves the files of a run, or the Minion installer. Resumes an interrupted download")
        .subcommand_required(true)
        .subcommand_value_name("run|minion")
        .arg_required_else_help(true)
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
        .subcommands([run_command(), minion_command()])
}

#[derive(Args)]
struct RunArguments {
    #[command(flatten)]
    output: JsonFlag,

    /// Id of a run or of one player (RUN-PLAYER), `latest`, or the name of a test: its latest run
    #[arg(value_name = "RUN", add = name_completions(NameKind::Result(ResultKind::Run)))]
    run_id: String,

    /// Directory, created if missing. Default: a directory named after the run
    #[arg(long, value_name = "DIR", value_parser = path_value())]
    to: Option<PathBuf>,

    /// Only this player, counted from 1
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    player: Option<Vec<u64>>,

    /// Only files whose names match: `*.png`, `deliverables/**`
    #[arg(long, value_name = "GLOB")]
    pattern: Option<Vec<String>>,

    /// Replace other files of the same names
    #[arg(long)]
    overwrite: bool,
}

#[derive(Args)]
struct MinionArguments {
    #[command(flatten)]
    output: JsonFlag,

    #[arg(long, value_name = "P", help = platform_help(), add = ArgValueCandidates::new(platforms))]
    platform: Option<String>,

    /// Directory, created if missing. Default: the working directory
    #[arg(long, value_name = "DIR", value_parser = path_value())]
    to: Option<PathBuf>,

    /// Replace another file of the same name
    #[arg(long)]
    overwrite: bool,
}

fn run_command() -> Command {
    let command = Command::new("run")
        .about("Saves the files of a run. With several players, each has a directory of its own")
        .after_help(help_end(&RUN_EXAMPLES, ExitStatus::HELP));

    RunArguments::augment_args(command)
}

fn minion_command() -> Command {
    let command = Command::new("minion")
        .about("Saves the latest installer of a Minion, the helper agent of a test machine")
        .after_help(help_end(&MINION_EXAMPLES, ExitStatus::HELP));

    MinionArguments::augment_args(command)
}

fn platform_help() -> String {
    let [first, second, third] = MinionPlatform::ALL.map(MinionPlatform::name);
    format!("{first}, {second} or {third}. Default: the platform of this machine")
}

fn platforms() -> Vec<CompletionCandidate> {
    MinionPlatform::ALL.map(MinionPlatform::name).into_iter().map(CompletionCandidate::new).collect()
}

/// Downloads the files and prints what was saved.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let tools = build_caller_with_files(settings)?;
    let progress = DownloadProgress::new();

    match matches.subcommand() {
        Some(("run", matches)) => {
            download_run(RunArguments::from_arg_matches(matches)?, &tools, &progress).await
        }
        Some(("minion", matches)) => {
            download_minion(MinionArguments::from_arg_matches(matches)?, &tools, &progress).await
        }
        _ => Err(anyhow::anyhow!("the subcommand is missing").into()),
    }
}

/// Saves the files of a run and prints them.
async fn download_run(
    arguments: RunArguments,
    tools: &CallerWithFiles,
    progress: &DownloadProgress,
) -> Result<ExitStatus, CommandError> {
    let run_id = resolve_run(&tools.caller, arguments.run_id).await?;
    let destination = destination(arguments.to, &tools.files, &run_id)?;
    let request = DownloadRequest {
        project: None,
        players: arguments.player,
        patterns: arguments.pattern,
        overwrite: arguments.overwrite,
        run_id,
        files: None,
    };

    let options = progress.call_options();
    let outcome = request.run(&tools.caller, &destination, &DownloadOptions::default(), &options).await;
    progress.clear();

    let report = outcome.map_err(CommandError::AfterRequests)?;
    let hint = report.hint.clone().filter(|_| !prints_json(arguments.output.json));
    let printed = print_json_or_table(&report, run_table(&report), arguments.output.json)
        .and_then(|()| hint.map_or(Ok(()), print_line));

    // The first file that could not be downloaded determines the status.
    let failed = report.failed.first();
    let status = failed.map_or(ExitStatus::Success, |failed| ExitStatus::after_requests(failed.code));

    Ok(status_after_output(status, printed))
}

/// Returns the id of the run that a user names: an id of a run or of a player, `latest`, or a test whose latest run is
/// meant.
async fn resolve_run(caller: &Caller, run: String) -> Result<String, Failure> {
    // The download reads the run, so that an id needs no look-up.
    if is_result_id(ResultKind::Run, &run) {
        return Ok(run);
    }

    let result = NameResolver::new(caller, None).result(&run, Latest::Result).await?;
    if result.kind == ResultKind::Run {
        return Ok(result.id);
    }

    let message = format!("`{run}` is a {}, and not a run", result.kind.noun());
    let hint = format!("`tas-mcp report {}` names its runs", quoted(&result.id));
    Err(Failure::new(Code::InvalidArguments, message).hint(hint))
}

fn run_table(report: &DownloadReport) -> Table {
    let mut table = Table::new(["file", "bytes", "note"]);
    // A reason that is cut off does not help.
    table.keep_whole(2);
    for file in &report.files {
        let note = if file.kept { "already present" } else { "" };
        table.add_row([file.path.as_str(), &file.size.to_string(), note]);
    }

    for failed in &report.failed {
        table.add_row([failed.file_ref.as_str(), "", &failed.message]);
    }

    table
}

/// Saves the installer and prints its path.
async fn download_minion(
    arguments: MinionArguments,
    tools: &CallerWithFiles,
    progress: &DownloadProgress,
) -> Result<ExitStatus, CommandError> {
    let named = arguments.platform.as_deref().map(parse_platform).transpose()?;
    let platform = minion_platform(named)?;
    let destination = destination(arguments.to, &tools.files, ".")?;
    let request = InstallerRequest { project: None, platform, overwrite: arguments.overwrite };

    let (options, storage) = (progress.call_options(), &tools.files.storage);
    let download = DownloadOptions::default();
    let outcome = request.run(&tools.caller, storage, &destination, &download, &options).await;
    progress.clear();

    let installer = outcome.map_err(CommandError::AfterRequests)?;
    let printed = print_json_or_table(&installer, installer_table(&installer), arguments.output.json);

    Ok(status_after_output(ExitStatus::Success, printed))
}

fn parse_platform(name: &str) -> Result<MinionPlatform, Failure> {
    serde_json::from_value(Value::from(name)).map_err(|_| {
        let platforms = MinionPlatform::ALL.map(MinionPlatform::name);
        let nearest = most_similar(name, platforms.iter().map(String::as_str));
        let suggestion = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        let rule = format!("must be one of {}{suggestion}", platforms.join(", "));

        Failure::invalid_arguments("download minion", &[Violation::new("platform", rule)])
    })
}

fn installer_table(installer: &SavedInstaller) -> Table {
    let mut table = Table::new(["file", "bytes", "sha256"]);
    let size = installer.size.map(|size| size.to_string()).unwrap_or_default();
    table.add_row([installer.path.clone(), size, installer.sha256.clone().unwrap_or_default()]);
    table
}

/// Returns the directory to save files in.
///
/// # Errors
/// The failure of unusable settings, or of a directory that must not be used.
fn destination(to: Option<PathBuf>, files: &FileServices, default: &str) -> Result<Destination, Failure> {
    let directory = to.map(|path| path.to_string_lossy().into_owned());
    files.download_root_for_user()?.destination(directory.as_deref().unwrap_or(default))
}

/// Progress bar on standard error. Shows nothing if standard error is not a terminal.
#[derive(Clone, Debug)]
struct DownloadProgress(ProgressBar);

impl DownloadProgress {
    /// Returns a bar whose length is not known yet.
    fn new() -> Self {
        let bar = ProgressBar::no_length();
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn call_options(&self) -> CallOptions {
        CallOptions { progress: Arc::new(self.clone()), ..CallOptions::silent() }
    }

    /// Removes the bar from the terminal: one that remains would be mixed with the result.
    fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl ProgressSink for DownloadProgress {
    fn report(&self, done: u64, total: u64, message: &str) {
        self.0.set_length(total);
        self.0.set_position(done);
        self.0.set_message(single_line(message));
    }
}
