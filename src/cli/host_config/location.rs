//! Where each host keeps its configuration.

use std::path::{Path, PathBuf};

use super::host::Host;
use crate::settings::{OperatingSystem, UserDirectories};

/// Directory of the data of Claude Desktop if Windows has installed it as a package, relative to the local data.
const CLAUDE_PACKAGE: &str = "Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming";

impl Host {
    /// Returns the configuration file: the first possible one whose directory exists, or else the usual one.
    pub(in crate::cli) fn config_file(self, directories: &UserDirectories) -> PathBuf {
        let [preferred, usual] = self.config_files(directories);
        if preferred.parent().is_some_and(Path::is_dir) { preferred } else { usual }
    }

    /// Returns whether a file or directory of the host exists on this machine.
    pub(in crate::cli) fn is_installed(self, directories: &UserDirectories) -> bool {
        let file = self.config_file(directories);
        match self {
            // The file is in the home directory, which exists in any case.
            Self::ClaudeCode => {
                let moved = directories.claude_code.clone();
                file.is_file() || moved.unwrap_or_else(|| directories.in_home(".claude")).is_dir()
            }
            _ => file.parent().is_some_and(Path::is_dir),
        }
    }

    /// Returns the preferred configuration file and the usual one, which are the same for most hosts.
    fn config_files(self, directories: &UserDirectories) -> [PathBuf; 2] {
        let usual = self.usual_config_file(directories);
        match (self, directories.system) {
            // Windows redirects the usual directory of a packaged program to this one.
            (Self::ClaudeDesktop, OperatingSystem::Windows) => {
                let package = directories.local_data.join(CLAUDE_PACKAGE);
                [claude_desktop_file(&package), usual]
            }
            _ => [usual.clone(), usual],
        }
    }

    fn usual_config_file(self, directories: &UserDirectories) -> PathBuf {
        let UserDirectories { configuration, .. } = directories;
        let or_home = |moved: &Option<PathBuf>, usual: &str| {
            moved.clone().unwrap_or_else(|| directories.in_home(usual))
        };

        match self {
            Self::ClaudeDesktop => claude_desktop_file(configuration),
            Self::ClaudeCode => or_home(&directories.claude_code, "").join(".claude.json"),
            Self::Cursor => directories.in_home(".cursor/mcp.json"),
            Self::VsCode => configuration.join("Code/User/mcp.json"),
            Self::Codex => or_home(&directories.codex, ".codex").join("config.toml"),
            Self::Gemini => or_home(&directories.gemini_home, "").join(".gemini/settings.json"),
            Self::Windsurf => directories.in_home(".codeium/windsurf/mcp_config.json"),
            Self::Zed => zed_directory(directories).join("settings.json"),
        }
    }
}

fn claude_desktop_file(configuration: &Path) -> PathBuf {
    configuration.join("Claude/claude_desktop_config.json")
}

/// Returns the configuration directory of Zed, which is below `.config` on macOS too.
fn zed_directory(directories: &UserDirectories) -> PathBuf {
    match directories.system {
        OperatingSystem::Linux => {
            let moved = directories.flatpak_configuration.as_ref();
            moved.unwrap_or(&directories.configuration).join("zed")
        }
        OperatingSystem::MacOs => directories.in_home(".config/zed"),
        OperatingSystem::Windows => directories.configuration.join("Zed"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn directories(system: OperatingSystem, variables: &[(&str, &str)]) -> UserDirectories {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        UserDirectories::from_variables(system, Some("/home/me".into()), variable).expect("a home directory")
    }

    #[test]
    fn every_host_has_its_file_on_every_system() {
        let home = [("USERPROFILE", "C:/me"), ("APPDATA", "C:/roaming")];
        let linux = directories(OperatingSystem::Linux, &[]);
        let mac = directories(OperatingSystem::MacOs, &[]);
        let windows = directories(OperatingSystem::Windows, &home);
        let cases = [
            (
                Host::ClaudeDesktop,
                ".config/Claude/claude_desktop_config.json",
                "Library/Application Support/Claude/claude_desktop_config.json",
                "C:/roaming/Claude/claude_desktop_config.json",
            ),
            (Host::ClaudeCode, ".claude.json", ".claude.json", "C:/me/.claude.json"),
            (Host::Cursor, ".cursor/mcp.json", ".cursor/mcp.json", "C:/me/.cursor/mcp.json"),
            (
                Host::VsCode,
                ".config/Code/User/mcp.json",
                "Library/Application Support/Code/User/mcp.json",
                "C:/roaming/Code/User/mcp.json",
            ),
            (Host::Codex, ".codex/config.toml", ".codex/config.toml", "C:/me/.codex/config.toml"),
            (Host::Gemini, ".gemini/settings.json", ".gemini/settings.json", "C:/me/.gemini/settings.json"),
            (
                Host::Windsurf,
                ".codeium/windsurf/mcp_config.json",
                ".codeium/windsurf/mcp_config.json",
                "C:/me/.codeium/windsurf/mcp_config.json",
            ),
            (
                Host::Zed,
                ".config/zed/settings.json",
                ".config/zed/settings.json",
                "C:/roaming/Zed/settings.json",
            ),
        ];

        assert_eq!(cases.map(|(host, ..)| host), Host::ALL);
        for (host, on_linux, on_mac, on_windows) in cases {
            let files = [&linux, &mac, &windows].map(|directories| host.config_file(directories));
            // The path on Windows is absolute on Windows only.
            let expected = [linux.in_home(on_linux), mac.in_home(on_mac), PathBuf::from(on_windows)];
            assert_eq!(files, expected, "{host:?}");
        }
    }

    #[test]
    fn variables_move_the_files() {
        let cases = [
            (Host::ClaudeDesktop, "XDG_CONFIG_HOME", "/moved/Claude/claude_desktop_config.json"),
            (Host::VsCode, "XDG_CONFIG_HOME", "/moved/Code/User/mcp.json"),
            (Host::Zed, "FLATPAK_XDG_CONFIG_HOME", "/moved/zed/settings.json"),
            (Host::ClaudeCode, "CLAUDE_CONFIG_DIR", "/moved/.claude.json"),
            (Host::Codex, "CODEX_HOME", "/moved/config.toml"),
            (Host::Gemini, "GEMINI_CLI_HOME", "/moved/.gemini/settings.json"),
            (Host::Cursor, "HOME", "/moved/.cursor/mcp.json"),
        ];

        for (host, variable, expected) in cases {
            let moved = directories(OperatingSystem::Linux, &[(variable, "/moved")]);
            assert_eq!(host.config_file(&moved), Path::new(expected), "{variable}");
            let empty = directories(OperatingSystem::Linux, &[(variable, "")]);
            let usual = directories(OperatingSystem::Linux, &[]);
            assert_eq!(host.config_file(&empty), host.config_file(&usual), "{variable}");
        }

        let relative = directories(OperatingSystem::Linux, &[("XDG_CONFIG_HOME", "relative")]);
        assert_eq!(relative.configuration, Path::new("/home/me/.config"));
    }

    #[test]
    fn a_packaged_claude_desktop_has_its_file_in_the_package() {
        let local = tempfile::tempdir().expect("a directory");
        let package = local.path().join(CLAUDE_PACKAGE).join("Claude");
        fs::create_dir_all(&package).expect("a directory");
        let variables = [("USERPROFILE", "C:/me"), ("LOCALAPPDATA", local.path().to_str().expect("Unicode"))];
        let windows = directories(OperatingSystem::Windows, &variables);

        assert_eq!(Host::ClaudeDesktop.config_file(&windows), package.join("claude_desktop_config.json"));
    }

    #[test]
    fn a_host_is_installed_if_its_directory_exists() {
        for (host, directory) in
            [(Host::ClaudeCode, ".claude"), (Host::Cursor, ".cursor"), (Host::Gemini, ".gemini")]
        {
            let home = tempfile::tempdir().expect("a directory");
            let home_variable = [("HOME", home.path().to_str().expect("Unicode"))];
            let directories = directories(OperatingSystem::Linux, &home_variable);
            assert!(!host.is_installed(&directories), "{host:?}");

            fs::create_dir(home.path().join(directory)).expect("a directory");
            assert!(host.is_installed(&directories), "{host:?}");
        }
    }
}
