//! `tas-mcp download`: the files of a run, or an installer, into a directory.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
};

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde::Serialize;
use serde_json::Value;

use super::{Exit, complain, complain_late, progress::Bar, table::Table};
use crate::{
    failure::Failure,
    service::api::minions::MinionPlatform,
    settings::Settings,
    text::nearest,
    tools::{
        caller::CallerContext,
        composite::minion_platform,
        dispatcher::Dispatcher,
        download::{DownloadOptions, DownloadReport, DownloadRequest, InstallerRequest, SavedInstaller},
        files::Destination,
    },
    violation::Violation,
};

/// Names of the arguments.
const RUN_ID: &str = "run-id";
const TO: &str = "to";
const PLAYER: &str = "player";
const PATTERN: &str = "pattern";
const OVERWRITE: &str = "overwrite";
const PLATFORM: &str = "platform";

/// The command.
pub fn command() -> Command {
    Command::new("download")
        .about("Saves the files of a run, or the Minion installer; what was cut off goes on where it ended")
        .subcommand_required(true)
        .subcommand_value_name("run|minion")
        .arg_required_else_help(true)
        .subcommands([run_command(), minion_command()])
}

fn run_command() -> Command {
    let player = Arg::new(PLAYER).long(PLAYER).value_name("N").action(ArgAction::Append);
    let pattern = Arg::new(PATTERN).long(PATTERN).value_name("GLOB").action(ArgAction::Append);

    Command::new("run")
        .about("Saves the files of a run; several players get folders of their own")
        .after_help(Exit::HELP)
        .arg(Arg::new(RUN_ID).value_name("RUN_ID").required(true).help("A run, or one player: RUN-PLAYER"))
        .arg(to("Directory, made if missing. Default: one named like the run"))
        .arg(player.value_parser(value_parser!(u64).range(1..)).help("Only this player, from 1"))
        .arg(pattern.help("Only names like this: `*.png`, `deliverables/**`"))
        .arg(overwrite("Replace other files of the same names"))
}

fn minion_command() -> Command {
    let platform = Arg::new(PLATFORM).long(PLATFORM).value_name("P");
    Command::new("minion")
        .about("Saves the latest installer of a Minion, the helper agent of a test machine")
        .after_help(Exit::HELP)
        .arg(platform.help("windows-x86_64, linux-x86_64 or darwin-aarch64. Default: this machine's"))
        .arg(to("Directory, made if missing. Default: the working directory"))
        .arg(overwrite("Replace another file of its name"))
}

fn overwrite(help: &'static str) -> Arg {
    Arg::new(OVERWRITE).long(OVERWRITE).action(ArgAction::SetTrue).help(help)
}

fn to(help: &'static str) -> Arg {
    Arg::new(TO).long(TO).value_name("DIR").value_parser(value_parser!(PathBuf)).help(help)
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let dispatcher = Dispatcher::new(settings.tools_config());
    match matches.subcommand() {
        Some(("run", matches)) => match run_files(matches, &dispatcher).await {
            Ok(report) => shown(&report, &table_of_files(&report), exit(&report)),
            Err(exit) => Ok(exit),
        },
        Some(("minion", matches)) => match minion(matches, &dispatcher).await {
            Ok(installed) => shown(&installed, &table_of_installer(&installed), Exit::Done),
            Err(exit) => Ok(exit),
        },
        _ => Err(anyhow::anyhow!("nothing to download is named")),
    }
}

async fn run_files(matches: &ArgMatches, dispatcher: &Dispatcher) -> Result<DownloadReport, Exit> {
    let run_id = matches.get_one::<String>(RUN_ID).cloned().unwrap_or_default();
    let destination = destination(matches, dispatcher, &run_id).map_err(|failure| complain(&failure))?;
    let given = |name: &str| matches.contains_id(name);
    let order = DownloadRequest {
        project: None,
        players: given(PLAYER)
            .then(|| matches.get_many::<u64>(PLAYER).unwrap_or_default().copied().collect()),
        patterns: given(PATTERN)
            .then(|| matches.get_many::<String>(PATTERN).unwrap_or_default().cloned().collect()),
        overwrite: matches.get_flag(OVERWRITE),
        run_id,
        files: None,
    };

    let bar = Bar::new();
    let audience = CallerContext { watcher: Arc::new(bar.clone()), ..CallerContext::silent() };
    let ended = order.run(dispatcher.gateway(), &destination, &DownloadOptions::default(), &audience).await;

    bar.end();

    ended.map_err(|failure| complain_late(&failure))
}

async fn minion(matches: &ArgMatches, dispatcher: &Dispatcher) -> Result<SavedInstaller, Exit> {
    let wanted = || {
        let named = matches.get_one::<String>(PLATFORM).map(|word| platform(word)).transpose()?;
        Ok((minion_platform(named)?, destination(matches, dispatcher, ".")?))
    };
    let (platform, destination) = wanted().map_err(|failure| complain(&failure))?;
    let order = InstallerRequest { project: None, platform, overwrite: matches.get_flag(OVERWRITE) };
    let bar = Bar::new();
    let audience = CallerContext { watcher: Arc::new(bar.clone()), ..CallerContext::silent() };
    let storage = dispatcher.files().map_err(|failure| complain(&failure))?.storage.clone();
    let ended =
        order.run(dispatcher.gateway(), &storage, &destination, &DownloadOptions::default(), &audience).await;

    bar.end();

    ended.map_err(|failure| complain_late(&failure))
}

fn destination(matches: &ArgMatches, dispatcher: &Dispatcher, default: &str) -> Result<Destination, Failure> {
    let named = matches.get_one::<PathBuf>(TO).map(|path| path.to_string_lossy().into_owned());
    dispatcher.files()?.root_at_terminal().destination(named.as_deref().unwrap_or(default))
}

fn platform(word: &str) -> Result<MinionPlatform, Failure> {
    serde_json::from_value(Value::from(word)).map_err(|_| {
        let words = ["windows-x86_64", "linux-x86_64", "darwin-aarch64"];
        let nearest = nearest(word, words.into_iter());
        let meant = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        let rule = format!("must be one of {}{meant}", words.join(", "));
        Failure::invalid_arguments("download minion", &[Violation::new(PLATFORM, rule)])
    })
}

/// Compact JSON in a pipe, a table on a terminal.
fn shown(result: &impl Serialize, table: &Table, exit: Exit) -> anyhow::Result<Exit> {
    let mut output = anstream::stdout();
    if std::io::stdout().is_terminal() {
        write!(output, "{table}")?;
    } else {
        writeln!(output, "{}", serde_json::to_string(result).context("the result is no JSON")?)?;
    }

    Ok(exit)
}

fn table_of_files(report: &DownloadReport) -> Table {
    let mut table = Table::new(["file", "bytes", "note"]);
    for file in &report.files {
        let note = if file.kept { "was there" } else { "" };
        table.row([file.path.clone(), file.size.to_string(), note.to_owned()]);
    }

    for failed in &report.failed {
        table.row([failed.file_ref.clone(), String::new(), failed.message.clone()]);
    }

    if let Some(hint) = &report.hint {
        table.row([String::new(), String::new(), hint.clone()]);
    }

    table
}

fn table_of_installer(installed: &SavedInstaller) -> Table {
    let mut table = Table::new(["file", "bytes", "sha256"]);
    let size = installed.size.map(|size| size.to_string()).unwrap_or_default();
    table.row([installed.path.clone(), size, installed.sha256.clone().unwrap_or_default()]);
    table
}

/// A file that did not come decides.
fn exit(report: &DownloadReport) -> Exit {
    match report.failed.first().map(|failed| failed.code) {
        None => Exit::Done,
        Some(code) => Exit::late(code),
    }
}
