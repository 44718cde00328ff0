//! The directories of the user in which programs keep their configuration.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Variables that contain the home directory or a directory in it with the configuration of programs.
pub const HOME_VARIABLES: [&str; 4] = ["HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA"];

/// Kind of operating system, as far as it decides where configuration is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatingSystem {
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
pub struct UserDirectories {
    /// The operating system.
    pub system: OperatingSystem,
    /// The home directory.
    pub home: PathBuf,
    /// Configuration of programs, which roams with the user on Windows.
    pub configuration: PathBuf,
    /// Data of programs that stay on this machine. Used on Windows only.
    pub local_data: PathBuf,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_code: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`, which stands for the home directory.
    pub gemini_home: Option<PathBuf>,
    /// `FLATPAK_XDG_CONFIG_HOME`, the configuration directory outside a sandboxed Zed.
    pub flatpak_configuration: Option<PathBuf>,
}

impl UserDirectories {
    /// Reads the directories of the user of this process; `None` if the user has no home directory.
    pub fn read() -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "the variables of other programs are read here only")]
        let variable = |name: &str| std::env::var_os(name);
        Self::from_variables(OperatingSystem::CURRENT, dirs::home_dir(), variable)
    }

    /// Returns the directories that follow from the home directory, which a variable may replace, and from `variable`.
    pub fn from_variables<T: Into<OsString>>(
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
            claude_code: directory("CLAUDE_CONFIG_DIR"),
            codex: directory("CODEX_HOME"),
            gemini_home: directory("GEMINI_CLI_HOME"),
            flatpak_configuration: directory("FLATPAK_XDG_CONFIG_HOME"),
            home,
        })
    }

    /// Returns the directory of this program in the configuration of the user.
    pub fn own(&self) -> PathBuf {
        self.configuration.join("tas-mcp")
    }

    /// Returns the path below the home directory.
    pub fn in_home(&self, path: impl AsRef<Path>) -> PathBuf {
        self.home.join(path)
    }
}
