//! `tas-mcp skills`: writes the skills into the folder where an agent looks for them, as commands for its shell.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches as _, ValueEnum};
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::json;

use super::install::Host;
use crate::{
    cli::{
        accounts::no_home,
        columns::plain_table,
        command_names::CommandLine,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{JsonFlag, Output},
    },
    failure::{Code, Failure},
    home_path::home_directory,
    mcp::{SHELL_SKILL, SKILLS, Skill},
    text_file::{TextFile, leads_out},
};

/// File with the checksum of the others, which shows whether somebody has edited them.
const CHECKSUM: &str = ".tas-mcp";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    Install,
    List,
    Remove,
}

/// Installs skills: how an agent with a shell does a job with commands
#[derive(Args)]
struct SkillsArguments {
    /// Write the skills of this version, show which are there and whether they are those of this version, or remove them
    #[arg(value_enum)]
    action: Action,

    /// Program that reads the skills. Default: those that read the folder of the standard, as most do
    #[arg(long, value_enum)]
    host: Option<Host>,

    /// For the project in the working directory
    #[arg(long = "project", conflicts_with = "_user")]
    of_project: bool,

    /// For all projects of the user, which is the default
    #[arg(long = "user")]
    _user: bool,

    /// Replace or remove also what somebody has edited
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    output: JsonFlag,
}

type Files = BTreeMap<PathBuf, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Absent,
    Current,
    Outdated,
    Edited,
}

struct Place {
    name: &'static str,
    path: PathBuf,
    /// What this version writes, apart from the checksum.
    files: Files,
}

pub(super) fn command() -> Command {
    let codes = "Exit codes: 0 success, 2 invalid arguments, a skill that somebody has edited, or a folder that cannot be written (nothing was changed)";
    let command = Command::new("skills").after_help(help_end(&["tas-mcp skills install --project"], codes));
    // Here `--project` chooses a folder. The setting of this name, a project of the service, has another flag.
    SkillsArguments::augment_args(command.arg(Arg::new("project").long("service-project").hide(true)))
}

pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let arguments = SkillsArguments::from_arg_matches(matches)?;
    let folder = arguments.folder()?;
    let place = |skill| Place::of(skill, &folder);
    let places: Vec<_> = SKILLS.iter().chain([&SHELL_SKILL]).filter_map(place).collect();

    let fail =
        |message, hint| Failure::new(Code::FileError, message).hint(format!("nothing was changed: {hint}"));
    if arguments.action != Action::List {
        if arguments.of_project && leads_out(&folder) {
            return Err(fail("a link leads out of the project".to_owned(), "remove it").into());
        }
        if let Some(edited) = places.iter().find(|place| !arguments.force && place.state() == State::Edited) {
            let message = format!("somebody has written or edited {}", edited.path.display());
            return Err(fail(message, "copy what is still needed, then repeat with `--force`").into());
        }
        let failed =
            |error| fail(format!("{} cannot be changed: {error}", folder.display()), "make it writable");
        replace(&folder, &places, arguments.action == Action::Install).map_err(failed)?;
    }

    let state = |place: &Place| json!({"skill": place.name, "state": place.state()});
    let skills: Vec<_> = places.iter().map(state).collect();
    let result = json!({"folder": folder, "skills": skills});
    Output::from(&arguments.output).print(ExitStatus::Success, &result, || plain_table(&skills))
}

impl SkillsArguments {
    /// Returns the folder in which the host looks for skills. Most hosts look into that of the standard.
    fn folder(&self) -> Result<PathBuf, Failure> {
        let parent = if self.of_project { PathBuf::new() } else { home_directory().ok_or_else(no_home)? };
        match self.host {
            Some(Host::ClaudeDesktop) => {
                Err(Failure::new(Code::InvalidArguments, "this host reads no skills"))
            }
            Some(Host::ClaudeCode) => Ok(parent.join(".claude/skills")),
            _ => Ok(parent.join(".agents/skills")),
        }
    }
}

impl Place {
    fn of(skill: &Skill, folder: &Path) -> Option<Self> {
        let path = folder.join(skill.name);
        let files = skill.files_for(&CommandLine)?.into_iter();
        let files = files.map(|(name, text)| (path.join(name), text)).collect();
        Some(Self { name: skill.name, path, files })
    }

    fn state(&self) -> State {
        let mut found = Files::new();
        if read(&self.path, &mut found).is_err() {
            return if self.path.symlink_metadata().is_ok() { State::Edited } else { State::Absent };
        }

        match found.remove(&self.path.join(CHECKSUM)) {
            checksum if checksum != Some(checksum_of(&found)) => State::Edited,
            _ if found == self.files => State::Current,
            _ => State::Outdated,
        }
    }
}

/// Reads a file, or the files in a folder. A link or a device could lead anywhere, or never end.
fn read(path: &Path, files: &mut Files) -> io::Result<()> {
    let kind = path.symlink_metadata()?.file_type();
    if kind.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| read(&entry?.path(), files));
    }
    if kind.is_symlink() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    files.insert(path.to_owned(), TextFile::read(path, 1 << 20)?.text().to_owned());
    Ok(())
}

fn checksum_of(files: &Files) -> String {
    let texts: Vec<_> =
        files.iter().map(|(path, text)| (path.file_name().map(OsStr::to_str), text)).collect();
    BASE64_STANDARD.encode(digest(&SHA256, json!(texts).to_string().as_bytes()))
}

/// Removes the skills and, with `by_new`, puts those of this version in their places. They are written into another folder before
/// anything is removed, and folders are moved as a whole, so that no skill is half there.
fn replace(folder: &Path, places: &[Place], by_new: bool) -> io::Result<()> {
    if !by_new && places.iter().all(|place| place.state() == State::Absent) {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let beside = tempfile::Builder::new().prefix(".tas-mcp-").tempdir_in(folder)?;
    let new = beside.path().join("new");

    for place in places.iter().filter(|_| by_new) {
        for (path, text) in &place.files {
            let file = new.join(path.strip_prefix(folder).unwrap_or(path));
            fs::create_dir_all(file.parent().unwrap_or(&new))?;
            fs::write(file, text)?;
        }
        fs::write(new.join(place.name).join(CHECKSUM), checksum_of(&place.files))?;
    }
    for place in places {
        if place.state() != State::Absent {
            fs::rename(&place.path, beside.path().join(place.name))?;
        }
        if by_new {
            fs::rename(new.join(place.name), &place.path)?;
        }
    }
    Ok(())
}
