//! The settings: where each value comes from, what the value means, and the configuration of each lower layer.
//!
//! The crate reads the environment only here.
//!
//! An unusable setting does not stop the server, because hosts show a server that does not start only as "failed to
//! connect". The values stay text until [`Settings::tools_config`] parses them and reports all problems at once.

mod absolute_path;
mod configs;
mod configuration_file;
mod definitions;
mod file_values;
mod flags;
mod http;
mod http_definitions;
mod loaded;
mod narrowing;
mod oauth;
mod parse;
mod parser;
mod problem;
mod profile_settings;
mod profile_value;
mod project_file;
mod server_flags;
mod setting;
mod setting_files;
mod source_table;
mod traces;
mod unusable_file;
mod user_directories;
mod values;

pub use configuration_file::{Configuration, ConfigurationFile, Profile};
pub use definitions::{FIRST_PROFILE, SETTINGS, service_variables};
pub use flags::{flags, http_flags, profile_completer};
pub use http::{HttpSettings, is_loopback_host};
pub use http_definitions::HTTP_SETTINGS;
pub use loaded::{ProfileChooser, SettingValue, Settings};
pub use oauth::OauthSettings;
pub use parse::log_filter;
pub use profile_settings::{profile_setting, profile_settings};
pub use profile_value::ProfileValue;
pub use project_file::RunDefaults;
pub use setting::Setting;
pub use setting_files::SettingFiles;
pub use traces::TraceSettings;
pub use unusable_file::{FileProblem, UnusableFile};
pub use user_directories::{HOME_VARIABLES, OperatingSystem, UserDirectories};
