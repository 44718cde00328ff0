//! The files of settings that a process reads, and the one of them that is in a repository: defaults for everybody who works there.
//!
//! The repository may come from a stranger. Its file cannot say where a key is sent or which files are used.

use std::path::{Path, PathBuf};

use anyhow::Result;
use toml_edit::Item;

use super::{
    configuration_file::{
        Configuration, ConfigurationFile, MAX_BYTES, SourceTable, UnusableFile, text_of, user_directory,
    },
    definition::{PROFILE, PROJECT_ID, READ_ONLY, Setting, TOOLSETS, setting},
    problem::SettingProblem,
};
use crate::{
    text_file::{TextFile, TextFileError},
    toml_text::parse_document,
};

/// Name of the file of a repository.
const NAME: &str = ".tas-mcp.toml";

/// Number of directories in which a repository is searched.
const MAX_DIRECTORIES: usize = 64;

/// Settings that the file may contain.
const PERMITTED: [&str; 4] = [PROFILE, PROJECT_ID, TOOLSETS, READ_ONLY];

/// Table with the defaults of `tas-mcp run`.
const RUN: &str = "run";

/// Names in the table `run`.
const DEVICE: &str = "device";
const BUILD: &str = "build";

/// Where the files of settings are.
#[derive(Clone, Debug, Default)]
pub struct SettingFiles {
    /// The configuration file of the user.
    pub configuration: Option<ConfigurationFile>,
    /// Directory in whose repository a project file is searched.
    pub working_directory: Option<PathBuf>,
}

/// The files that were read.
#[derive(Debug, Default)]
pub(super) struct ReadFiles {
    pub(super) configuration_path: PathBuf,
    pub(super) configuration: Configuration,
    pub(super) project_path: PathBuf,
    pub(super) project: ProjectFile,
    /// Why the project file does not count, although it exists.
    pub(super) ignored_project: Option<String>,
    pub(super) working_directory: Option<PathBuf>,
    /// Files that cannot be used.
    pub(super) problems: Vec<SettingProblem>,
}

impl SettingFiles {
    /// Returns the files of this process.
    pub fn of_process() -> Self {
        Self {
            configuration: user_directory().map(|directory| ConfigurationFile::in_directory(&directory)),
            working_directory: std::env::current_dir().ok(),
        }
    }

    /// Returns the names of the profiles; none if the configuration file cannot be used.
    pub fn profile_names(&self) -> Vec<String> {
        let configuration = self.configuration.as_ref().and_then(|file| file.read().ok());
        configuration.map(|configuration| configuration.profiles.into_keys().collect()).unwrap_or_default()
    }

    /// Reads the files. A file that does not exist is empty.
    pub(super) fn read(&self) -> ReadFiles {
        let mut files = ReadFiles::default();
        if let Some(file) = &self.configuration {
            file.path().clone_into(&mut files.configuration_path);
            match file.read() {
                Ok(configuration) => files.configuration = configuration,
                Err(error) => files.problems.push(problem("configuration file", &error)),
            }
        }

        if let Some(directory) = &self.working_directory {
            files.project_path = ProjectFile::path_for(directory);
            files.working_directory = Some(directory.clone());
            files.ignored_project = ProjectFile::reason_to_ignore(&files.project_path);
            if files.ignored_project.is_none() {
                match ProjectFile::read(&files.project_path) {
                    Ok(project) => files.project = project.unwrap_or_default(),
                    Err(error) => files.problems.push(problem("project file", &error)),
                }
            }
        }

        files
    }
}

fn problem(kind: &'static str, UnusableFile { path, problem }: &UnusableFile) -> SettingProblem {
    let (origin, reason) = (path.display().to_string(), format!("cannot be used: {problem}"));
    SettingProblem { setting: kind, origin, reason }
}

/// The file of a repository.
#[derive(Debug, Default)]
pub(super) struct ProjectFile {
    /// Name of the profile.
    pub(super) profile: Option<String>,
    /// Names of other settings with their values as text.
    pub(super) values: Vec<(&'static str, String)>,
    pub(super) run: RunDefaults,
}

/// Defaults of `tas-mcp run`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDefaults {
    /// Name or id of the device.
    pub device: Option<String>,
    /// Name, words of the name or id of the build.
    pub build: Option<String>,
}

impl ProjectFile {
    /// Returns the path of the file for a process in `directory`: at the root of the repository, or else in the directory.
    pub(super) fn path_for(directory: &Path) -> PathBuf {
        let has_git = |ancestor: &&Path| ancestor.join(".git").symlink_metadata().is_ok();
        let root = directory.ancestors().take(MAX_DIRECTORIES).find(has_git);
        root.unwrap_or(directory).join(NAME)
    }

    /// Reads the file, if it exists. A link is refused, because it could lead to any file of the user.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, UnusableFile> {
        let read = || match path.symlink_metadata() {
            // A directory that cannot be searched is no reason to refuse every call.
            Err(_) => Ok(None),
            Ok(metadata) if !metadata.is_file() => Err(TextFileError::NotRegular.into()),
            Ok(_) => Self::parse(TextFile::read(path, MAX_BYTES)?.text()).map(Some),
        };
        read().map_err(|problem| UnusableFile { path: path.to_owned(), problem })
    }

    /// Returns why an existing file does not count: the file, its directory or `.git` belongs to another user, who could have put
    /// it there. Owners are known on Unix systems only.
    pub(super) fn reason_to_ignore(path: &Path) -> Option<String> {
        #[cfg(unix)]
        let part = part_of_another_user(path, rustix::process::geteuid().as_raw());
        #[cfg(not(unix))]
        let part = None::<PathBuf>;

        let (file, part) = (path.display(), part?);
        Some(format!(
            "the project file {file} does not count, because {} belongs to another user",
            part.display()
        ))
    }

    fn parse(text: &str) -> Result<Self> {
        let document = parse_document(text)?;
        let source = SourceTable::of(&document);

        let mut file = Self::default();
        for (word, item) in source.table.iter() {
            if word == RUN {
                file.run = run_defaults(&source.below(word, item)?)?;
                continue;
            }

            let setting = permitted().find(|setting| setting.word == word);
            let setting = source.located(word, setting.ok_or_else(refusal))?;
            let text = source.located(word, text_of(setting, item))?;
            match setting.name() {
                PROFILE => file.profile = Some(text),
                // `read_only = false` must not permit changes that another place forbids.
                READ_ONLY if item.as_bool() != Some(true) => {}
                name => file.values.push((name, text)),
            }
        }

        Ok(file)
    }
}

/// Returns what belongs to another user than `user`: an existing file, its directory or `.git` there.
#[cfg(unix)]
fn part_of_another_user(path: &Path, user: u32) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;

    path.symlink_metadata().ok()?;
    let parts = [path.to_owned(), path.parent()?.to_owned(), path.with_file_name(".git")];
    parts.into_iter().find(|part| part.symlink_metadata().is_ok_and(|metadata| metadata.uid() != user))
}

fn run_defaults(source: &SourceTable<'_>) -> Result<RunDefaults> {
    let mut defaults = RunDefaults::default();
    for (word, item) in source.table.iter() {
        let default = match word {
            DEVICE => &mut defaults.device,
            BUILD => &mut defaults.build,
            _ => {
                let reason = format!("is not a default of `run`; `{DEVICE}` and `{BUILD}` are");
                return source.located(word, Err(reason));
            }
        };
        *default = Some(source.located(word, text(item))?);
    }

    Ok(defaults)
}

fn text(item: &Item) -> Result<String, &'static str> {
    let text = item.as_str().map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or("must be a text in quotes that is not empty")
}

fn permitted() -> impl Iterator<Item = &'static Setting> {
    PERMITTED.into_iter().filter_map(setting)
}

fn refusal() -> String {
    let permitted = permitted().map(|setting| format!("`{}`", setting.word)).collect::<Vec<_>>().join(", ");
    format!(
        "cannot be set here, because a repository may come from a stranger; the file may set {permitted} and `[{RUN}]`"
    )
}
