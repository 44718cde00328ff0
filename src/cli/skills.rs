//! `tas-mcp skills`: writes the skills for hosts that read them from folders.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde::Serialize;

use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{JsonFlag, print_json_or_table, status_after_output},
    table::Table,
};
use crate::{
    failure::{Code, Failure},
    mcp::SKILLS,
    settings::Settings,
    text_file::{TextFile, TextFileError},
};

/// Command that the help shows.
const EXAMPLES: [&str; 1] = ["tas-mcp skills export .skills"];

const EXIT_CODES: &str =
    "Exit codes: 0 success, 2 a file differs and is not replaced, or a file cannot be read or written";

/// Largest file that is compared with a file of a skill, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Args)]
struct ExportArguments {
    /// Folder for the skills. Each of them gets a folder in it
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Replace files that differ
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    output: JsonFlag,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let export = Command::new("export")
        .about("Writes each skill as a folder with a SKILL.md. The skills name only the tools that the settings offer")
        .after_help(help_end(&EXAMPLES, EXIT_CODES));

    Command::new("skills")
        .about("Writes the skills: instructions for assistants that use the tools")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .subcommand_required(true)
        .subcommand_value_name("export")
        .arg_required_else_help(true)
        .subcommand(ExportArguments::augment_args(export))
}

/// Runs the subcommand.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (_, matches) = matches.subcommand().context("the subcommand is missing")?;
    let arguments = ExportArguments::from_arg_matches(matches)?;
    let files = read_targets(&arguments.directory, settings)?;
    if !arguments.force {
        refuse_differing(&files)?;
    }

    for file in &files {
        file.write().map_err(|error| unusable(&file.path, &error))?;
    }

    let shown: Vec<_> = files.iter().map(ExportedFile::show).collect();
    let mut table = Table::new(["file", "outcome"]);
    for file in &shown {
        table.add_row([file.file.as_str(), file.outcome]);
    }

    Ok(status_after_output(ExitStatus::Success, print_json_or_table(&shown, table, arguments.output.json)))
}

/// A file of a skill, and what is at its place.
struct ExportedFile {
    path: PathBuf,
    text: String,
    target: TextFile,
}

/// An exported file, as the command prints it.
#[derive(Serialize)]
struct ShownFile {
    file: String,
    /// `written`, `replaced` or `unchanged`.
    outcome: &'static str,
}

/// Returns the files of all skills that the settings offer.
///
/// # Errors
/// `file_error`: something at the place of a file cannot be read.
fn read_targets(directory: &Path, settings: &Settings) -> Result<Vec<ExportedFile>, Failure> {
    let tools = settings.selection();
    let mut files = Vec::new();

    for skill in &SKILLS {
        for (path, text) in skill.files_for(&tools).unwrap_or_default() {
            let path = directory.join(skill.name).join(path);
            let target = TextFile::read(&path, MAX_BYTES).map_err(|error| unusable(&path, &error))?;
            files.push(ExportedFile { path, text, target });
        }
    }

    Ok(files)
}

/// Refuses to replace files. Nothing is written then.
fn refuse_differing(files: &[ExportedFile]) -> Result<(), Failure> {
    let differing = files.iter().filter(|file| file.differs()).map(|file| file.path.display().to_string());
    let differing: Vec<_> = differing.collect();
    if differing.is_empty() {
        return Ok(());
    }

    let message = format!("these files have another content: {}", differing.join(", "));
    Err(Failure::new(Code::FileError, message).hint("`--force` replaces them; nothing was written"))
}

fn unusable(path: &Path, error: &TextFileError) -> Failure {
    Failure::new(Code::FileError, format!("{}: {error}", path.display()))
        .hint("name a folder in which you may write")
}

impl ExportedFile {
    fn differs(&self) -> bool {
        self.target.exists() && self.target.text() != self.text
    }

    fn write(&self) -> Result<(), TextFileError> {
        if self.target.exists() {
            return if self.differs() { self.target.replace(&self.text) } else { Ok(()) };
        }

        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent)?;
        }
        // A file that another program has created since is not replaced.
        Ok(File::create_new(&self.path)?.write_all(self.text.as_bytes())?)
    }

    fn show(&self) -> ShownFile {
        let outcome = match self.target.exists() {
            false => "written",
            true if self.differs() => "replaced",
            true => "unchanged",
        };
        ShownFile { file: self.path.display().to_string(), outcome }
    }
}
