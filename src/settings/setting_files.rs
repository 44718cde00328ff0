//! The files of settings that a process reads.

use std::path::PathBuf;

use super::{
    configuration_file::{Configuration, ConfigurationFile},
    project_file::ProjectFile,
    unusable_file::UnusableFile,
    user_directories::UserDirectories,
};

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
    /// Files that cannot be used, each with the name of its kind.
    pub(super) unusable: Vec<(&'static str, UnusableFile)>,
}

impl SettingFiles {
    /// Returns the files of this process.
    pub fn of_process() -> Self {
        Self {
            configuration: UserDirectories::read()
                .map(|directories| ConfigurationFile::of_user(&directories)),
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
                Err(error) => files.unusable.push(("configuration file", error)),
            }
        }

        if let Some(directory) = &self.working_directory {
            files.project_path = ProjectFile::path_for(directory);
            files.working_directory = Some(directory.clone());
            files.ignored_project = ProjectFile::reason_to_ignore(&files.project_path);
            if files.ignored_project.is_none() {
                match ProjectFile::read(&files.project_path) {
                    Ok(project) => files.project = project.unwrap_or_default(),
                    Err(error) => files.unusable.push(("project file", error)),
                }
            }
        }

        files
    }
}
