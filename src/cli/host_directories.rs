//! The directories of the user in which hosts keep their configuration.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::accounts::no_home;
use crate::failure::Failure;

/// Kind of operating system, as far as it decides where configuration is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperatingSystem {
    /// Linux and other systems that follow the XDG base directories.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl OperatingSystem {
    const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// The directories of one user, and the directories that variables move elsewhere.
#[derive(Clone, Debug)]
pub(super) struct UserDirectories {
    /// The operating system.
    pub(super) system: OperatingSystem,
    /// The home directory.
    pub(super) home: PathBuf,
    /// Configuration of programs, which roams with the user on Windows.
    pub(super) configuration: PathBuf,
    /// Data of programs that stay on this machine. Used on Windows only.
    pub(super) local_data: PathBuf,
    /// `FLATPAK_XDG_CONFIG_HOME`, the configuration directory outside a sandboxed Zed.
    pub(super) flatpak_configuration: Option<PathBuf>,
    /// Directories of programs: those of `PATH` that do not depend on the working directory.
    programs: Vec<PathBuf>,
}

impl UserDirectories {
    /// Reads the directories of the user of this process.
    ///
    /// # Errors
    /// `file_error`: the user has no home directory.
    pub(super) fn read() -> Result<Self, Failure> {
        #[expect(clippy::disallowed_methods, reason = "the variables of other programs are read here only")]
        let variable = |name: &str| std::env::var_os(name);
        Self::from_variables(OperatingSystem::CURRENT, dirs::home_dir(), variable).ok_or_else(no_home)
    }

    /// Returns the directories that follow from the home directory, which a variable may replace, and from `variable`.
    pub(super) fn from_variables<T: Into<OsString>>(
        system: OperatingSystem,
        home: Option<PathBuf>,
        variable: impl Fn(&str) -> Option<T>,
    ) -> Option<Self> {
        let directory = |name: &str| {
            let value: OsString = variable(name)?.into();
            (!value.is_empty()).then(|| PathBuf::from(value))
        };
        let home_variable = if system == OperatingSystem::Windows { "USERPROFILE" } else { "HOME" };
        let home = directory(home_variable).or(home)?;

        let configuration = match system {
            // The XDG rules ignore a relative path.
            OperatingSystem::Linux => directory("XDG_CONFIG_HOME")
                .filter(|path| path.is_absolute())
                .unwrap_or_else(|| home.join(".config")),
            OperatingSystem::MacOs => home.join("Library/Application Support"),
            OperatingSystem::Windows => {
                directory("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming"))
            }
        };

        Some(Self {
            system,
            configuration,
            local_data: directory("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData").join("Local")),
            flatpak_configuration: directory("FLATPAK_XDG_CONFIG_HOME"),
            programs: directory("PATH").as_ref().map(programs).unwrap_or_default(),
            home,
        })
    }

    /// Returns the path below the home directory.
    pub(super) fn in_home(&self, path: impl AsRef<Path>) -> PathBuf {
        self.home.join(path)
    }

    /// Returns the file of the program `name`, if it is in a directory of `PATH`.
    pub(super) fn program(&self, name: &str) -> Option<PathBuf> {
        // Package managers install batch files on Windows.
        let endings: &[&str] =
            if self.system == OperatingSystem::Windows { &[".exe", ".cmd"] } else { &[""] };
        let files = self.programs.iter().flat_map(|directory| {
            endings.iter().map(move |ending| directory.join(format!("{name}{ending}")))
        });

        files.into_iter().find(|file| file.is_file())
    }
}

fn programs(path: impl AsRef<OsStr>) -> Vec<PathBuf> {
    std::env::split_paths(&path).filter(|directory| directory.is_absolute()).collect()
}
