//! `tas-mcp download`: saves the files of a run, or the Minion installer.

use std::{
    env::consts::{ARCH, OS},
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::{
    ArgMatches, Args, Command, FromArgMatches as _,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::{Value, json};

use super::files::FileSelection;
use crate::{
    cli::{
        calls::build_caller_with_files,
        columns::{counted, duration_text, size},
        exit_status::{CommandError, ExitStatus},
        failure_output,
        file_flags::path_value,
        help::help_end,
        name_resolution::NameResolver,
        output::{Output, OutputFlags, note},
        progress::Progress,
        table::{Cell, Fit, Table},
    },
    failure::{Code, Failure},
    service::api::{
        Id,
        configs::{GetMinionDownload, MinionPlatform},
    },
    settings::Settings,
    tools::{
        context::CallerWithFiles,
        download::{DownloadReport, DownloadRunFiles, MAX_UNSIZED_BYTES, save_link},
        project_client::ProjectClient,
    },
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp download latest",
    r#"tas-mcp download "Pause and resume" --pattern '*.png' --to pictures"#,
    "tas-mcp download minion --platform linux-x86_64 --to installers",
];

/// Word for the installer, in place of a run.
const MINION: &str = "minion";

/// Template of the progress bar.
const BAR: &str = "{wide_bar} {msg}";

#[derive(Args)]
struct DownloadArguments {
    #[command(flatten)]
    selection: FileSelection,

    /// Platform of the installer. Default: that of this machine
    #[arg(long, value_name = "P", value_parser = platform_value())]
    platform: Option<MinionPlatform>,

    /// Directory, created if missing. Default: one named after the run, and the working directory for the installer
    #[arg(long, value_name = "DIR", value_parser = path_value())]
    to: Option<PathBuf>,

    /// Replace other files of the same names
    #[arg(long)]
    overwrite: bool,

    #[command(flatten)]
    output: OutputFlags,
}

pub(super) fn command() -> Command {
    let command = Command::new("download")
        .about("Saves the files of a run; or, as `download minion`, the installer of a Minion")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
        .arg_required_else_help(true);

    DownloadArguments::augment_args(command)
}

fn platform_value() -> impl TypedValueParser<Value = MinionPlatform> {
    let names = MinionPlatform::ALL.map(MinionPlatform::name);
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(Value::from(name)))
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = DownloadArguments::from_arg_matches(matches)?;
    let is_minion = arguments.selection.run_id == MINION;
    let selects_files = arguments.selection.pattern.is_some() || arguments.selection.player.is_some();
    if (is_minion && selects_files) || (!is_minion && arguments.platform.is_some()) {
        let message = "`--platform` is for `download minion`, and `--pattern` and `--player` are for a run";
        return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent").into());
    }

    let tools = build_caller_with_files(settings)?;
    if is_minion { download_minion(arguments, &tools).await } else { download_run(arguments, &tools).await }
}

async fn download_run(
    arguments: DownloadArguments,
    tools: &CallerWithFiles,
) -> Result<ExitStatus, CommandError> {
    let DownloadArguments { mut selection, output, to, overwrite, .. } = arguments;
    let output = Output::from(output);
    selection.run_id = NameResolver::new(&tools.caller, None).run(&selection.run_id).await?;
    let directory = to.map_or_else(|| selection.run_id.clone(), |to| to.to_string_lossy().into_owned());
    let destination = tools.files.root_for_user()?.destination(&directory)?;
    if selection.pattern.is_some() || selection.player.is_some() {
        selection.check(&selection.read(&tools.caller).await?)?;
    }

    let FileSelection { run_id, player: players, pattern: patterns } = selection;
    let request = DownloadRunFiles {
        run_id: Id(run_id),
        destination_dir: directory,
        files: None,
        players,
        patterns,
        overwrite: Some(overwrite),
    };
    let (began, options) = (Instant::now(), Progress::bar(BAR).options());
    let outcome = request.save(&tools.caller, None, &destination, MAX_UNSIZED_BYTES, &options).await;
    drop(options);

    let report = outcome.map_err(CommandError::AfterRequests)?;
    // The first file that could not be downloaded determines the status.
    let failed = report.failed.first();
    let status = failed.map_or(ExitStatus::Success, |failed| ExitStatus::after_requests(failed.code));
    let status = output.print(status, &report, || run_table(&report))?;
    if output.has_rows() {
        note(&summary(&report, began.elapsed()));
    }

    Ok(status)
}

fn summary(report: &DownloadReport, took: Duration) -> String {
    if let Some(hint) = &report.hint {
        return failure_output::hint(hint);
    }

    let kept = report.files.iter().filter(|file| file.kept).count();
    let kept = if kept > 0 { format!(", {kept} of them already present") } else { String::new() };
    let failed = report.failed.len();
    let failed = if failed > 0 { format!("; {failed} could not be saved") } else { String::new() };
    format!(
        "run {}: {}, {}{kept}, in {}: {}{failed}",
        report.run_id,
        counted(report.file_count, "file"),
        indicatif::HumanBytes(report.total_bytes),
        duration_text(took.as_secs_f64()),
        report.destination,
    )
}

fn run_table(report: &DownloadReport) -> Table {
    let mut table = Table::new(["file", "size", "note"]).fitting([1], Fit::Whole);
    for file in &report.files {
        let note = if file.kept { "already present" } else { "" };
        table.add_row([Cell::from(file.path.as_str()), size(file.size), note.into()]);
    }

    for failed in &report.failed {
        table.add_row([failed.file_ref.as_str(), "", "not saved"]);
        table.add_note(&failed.message);
    }

    table
}

async fn download_minion(
    arguments: DownloadArguments,
    tools: &CallerWithFiles,
) -> Result<ExitStatus, CommandError> {
    let output = Output::from(arguments.output);
    let platform = arguments.platform.map_or_else(platform_here, Ok)?;
    let directory = arguments.to.unwrap_or_else(|| ".".into());
    let destination = tools.files.root_for_user()?.destination(&directory.to_string_lossy())?;

    let client = ProjectClient { caller: tools.caller.clone(), project: None };
    let answer = client.call(&GetMinionDownload { platform }).await?.view::<GetMinionDownload>();
    let options = Progress::bar(BAR).options();
    let outcome = save_link(tools, &answer.download_url, arguments.overwrite, &destination, &options).await;
    drop(options);

    let (path, bytes) = outcome.map_err(CommandError::AfterRequests)?;
    let saved = json!({"status": "downloaded", "path": path, "size": bytes});
    output.print(ExitStatus::Success, &saved, || {
        let mut table = Table::new(["file", "size"]).fitting([0], Fit::Whole);
        table.add_row([Cell::from(path.as_str()), size(bytes)]);
        table
    })
}

fn platform_here() -> Result<MinionPlatform, Failure> {
    match (OS, ARCH) {
        ("windows", "x86_64") => Ok(MinionPlatform::Windows),
        ("linux", "x86_64") => Ok(MinionPlatform::Linux),
        ("macos", "aarch64") => Ok(MinionPlatform::Darwin),
        _ => {
            let message = "download minion: there is no installer for the platform of this machine";
            Err(Failure::new(Code::InvalidArguments, message).hint("name another one with `--platform`"))
        }
    }
}
