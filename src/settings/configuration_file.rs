//! The configuration file of the user: profiles, and the profile that is used by default.
//!
//! `content` parses the text, `edit` changes it.

mod content;
mod edit;

use std::path::{Path, PathBuf};

pub use self::content::{Configuration, Profile};
use super::{unusable_file::UnusableFile, user_directories::UserDirectories};
use crate::{
    failure::{Code, Failure},
    text_file::TextFile,
};

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The configuration file of a user. It contains no key.
#[derive(Clone, Debug)]
pub struct ConfigurationFile {
    path: PathBuf,
}

impl ConfigurationFile {
    /// Returns the file of the user with these directories. The file may not exist.
    pub fn of_user(directories: &UserDirectories) -> Self {
        Self { path: directories.own().join("config.toml") }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that a text can be the name of a profile.
    ///
    /// # Errors
    /// `invalid_arguments`, with the characters that a name may have.
    pub fn check_name(profile: &str) -> Result<(), Failure> {
        content::check_profile_name(profile)
            .map_err(|reason| Failure::new(Code::InvalidArguments, format!("`{profile}` {reason}")))
    }

    /// Reads the file. A file that does not exist, or whose directory cannot be searched, is empty.
    ///
    /// # Errors
    /// Why the file cannot be used, with the line.
    pub fn read(&self) -> Result<Configuration, UnusableFile> {
        // Services run as users whose home directory is that of another user, or no directory.
        if self.path.symlink_metadata().is_err() {
            return Ok(Configuration::default());
        }

        let configuration = TextFile::read(&self.path, MAX_BYTES)
            .map_err(Into::into)
            .and_then(|file| Configuration::parse(file.text()));
        configuration.map_err(|problem| UnusableFile { path: self.path.clone(), problem })
    }
}
