//! `tas-mcp skills`: writes the skills into the folder where an agent looks for them, as commands for its shell.
//!
//! Beside the files of a skill stands their checksum, so that a folder that somebody has edited is not replaced unasked.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use clap::{ArgMatches, Args, Command, FromArgMatches as _, ValueEnum};
use ring::digest::{Context, SHA256};
use serde::Serialize;
use serde_json::json;

use super::install::Host;
use crate::{
    cli::{
        accounts::no_home,
        columns::plain_text,
        command_names::CommandLine,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{JsonFlag, Output},
        table::Table,
    },
    failure::{Code, Failure},
    fields::Fields,
    home_path::home_directory,
    mcp::{SHELL_SKILL, SKILLS, Skill},
};

const EXAMPLES: [&str; 2] =
    ["tas-mcp skills install --host codex --here", "tas-mcp skills list --host codex"];

const EXIT_CODES: &str = "Exit codes: 0 success, 2 invalid arguments, a skill that somebody has edited, or a folder that cannot be written (nothing was changed)";

/// File with the checksum of the others.
const CHECKSUM: &str = ".tas-mcp";

/// What an agent must know to follow a skill with commands.
const FOLLOWED_WITH_COMMANDS: &str = "
## Commands

An id or a name follows its command: `tas-mcp report ID`. `--json` prints the fields that this text names, and `tas-mcp help COMMAND` describes the flags. The skill use-tas explains costs and exit codes.
";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    Install,
    List,
    Remove,
}

#[derive(Args)]
struct SkillsArguments {
    /// Write the skills of this version, show which are there and whether they are those of this version, or remove them
    #[arg(value_enum)]
    action: Action,

    /// Program that reads the skills
    #[arg(long, value_enum)]
    host: Host,

    /// For the project of the working directory, in place of all projects of the user
    #[arg(long)]
    here: bool,

    /// Replace or remove also what somebody has edited
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    output: JsonFlag,
}

/// The content of each file, by its path below the folder of the skill.
type Files = BTreeMap<PathBuf, Vec<u8>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Absent,
    /// As this version writes it.
    Current,
    /// As another version has written it.
    Outdated,
    Edited,
}

/// A skill in the folder of a host.
struct Place {
    name: &'static str,
    path: PathBuf,
    /// What this version writes.
    files: Files,
}

pub(super) fn command() -> Command {
    let command = Command::new("skills")
        .about("Installs skills: how an agent with a shell does a job with commands")
        .after_help(help_end(&EXAMPLES, EXIT_CODES));

    SkillsArguments::augment_args(command)
}

pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let arguments = SkillsArguments::from_arg_matches(matches)?;
    let folder = arguments.folder()?;
    let skills = SKILLS.iter().chain([&SHELL_SKILL]);
    let places: Vec<_> = skills.filter_map(|skill| Place::of(skill, &folder)).collect();

    if arguments.action != Action::List {
        if let Some(edited) = places.iter().find(|place| !arguments.force && place.state() == State::Edited) {
            let message = format!("somebody has written or edited {}", edited.path.display());
            let hint = "nothing was changed: copy what is still needed, then repeat with `--force`";
            return Err(Failure::new(Code::FileError, message).hint(hint).into());
        }
        swap(&folder, &places, arguments.action == Action::Install).map_err(|error| {
            let message = format!("{} cannot be changed: {error}", folder.display());
            let hint = "make the folder writable, or choose another one with `--host` or `--here`";
            Failure::new(Code::FileError, message).hint(hint)
        })?;
    }

    let states: Fields = places.iter().map(|place| (place.name.to_owned(), json!(place.state()))).collect();
    let result = json!({"folder": folder, "skills": states});
    Output::from(&arguments.output).print(ExitStatus::Success, &result, || {
        let mut table = Table::new(["skill", "state"]);
        states.iter().for_each(|(name, state)| table.add_row([name.clone(), plain_text(state)]));
        table
    })
}

impl SkillsArguments {
    /// Returns the folder in which the host looks for skills.
    fn folder(&self) -> Result<PathBuf, Failure> {
        let folder = PathBuf::from(match self.host {
            Host::ClaudeCode => ".claude/skills",
            Host::Codex | Host::VsCode | Host::Windsurf => ".agents/skills",
            Host::Cursor => ".cursor/skills",
            Host::Gemini => ".gemini/skills",
            Host::ClaudeDesktop | Host::Zed => {
                let message = "this host is not known to read a folder of skills";
                return Err(Failure::new(Code::InvalidArguments, message));
            }
        });
        if self.here { Ok(folder) } else { Ok(home_directory().ok_or_else(no_home)?.join(folder)) }
    }
}

impl Place {
    /// Returns where the skill is below `folder`, as commands.
    fn of(skill: &Skill, folder: &Path) -> Option<Self> {
        let files = skill.files_for(&CommandLine)?.into_iter();
        let mut files: Files = files.map(|(path, text)| (path.into(), text.into_bytes())).collect();
        if skill.name != SHELL_SKILL.name {
            files.entry("SKILL.md".into()).or_default().extend(FOLLOWED_WITH_COMMANDS.bytes());
        }
        files.insert(CHECKSUM.into(), checksum(&files));

        Some(Self { name: skill.name, path: folder.join(skill.name), files })
    }

    fn state(&self) -> State {
        let mut found = Files::new();
        match read(&self.path, Path::new(""), &mut found) {
            _ if !self.path.exists() => State::Absent,
            Ok(()) if found == self.files => State::Current,
            Ok(()) if found.remove(Path::new(CHECKSUM)) == Some(checksum(&found)) => State::Outdated,
            _ => State::Edited,
        }
    }
}

/// Adds the files of a folder and of those in it, whose paths begin with `path`.
fn read(folder: &Path, path: &Path, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = path.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read(&entry.path(), &path, files)?;
        } else {
            files.insert(path, fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn checksum(files: &Files) -> Vec<u8> {
    let mut context = Context::new(&SHA256);
    for content in files.values() {
        context.update(&content.len().to_be_bytes());
        context.update(content);
    }
    BASE64_STANDARD.encode(context.finish()).into_bytes()
}

/// Takes the skills away, and puts those of this version there if they are `wanted`. All files are written beside the places
/// first, so that no skill is half there.
fn swap(folder: &Path, places: &[Place], wanted: bool) -> io::Result<()> {
    if !wanted && places.iter().all(|place| place.state() == State::Absent) {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let beside = tempfile::Builder::new().prefix(".tas-mcp-").tempdir_in(folder)?;
    let [old, new] = ["old", "new"].map(|name| beside.path().join(name));
    fs::create_dir(&old)?;

    for place in places.iter().filter(|_| wanted) {
        for (path, content) in &place.files {
            let file = new.join(place.name).join(path);
            fs::create_dir_all(file.parent().unwrap_or(&new))?;
            fs::write(file, content)?;
        }
    }
    for place in places {
        if place.state() != State::Absent {
            fs::rename(&place.path, old.join(place.name))?;
        }
        if wanted {
            fs::rename(new.join(place.name), &place.path)?;
        }
    }
    Ok(())
}
