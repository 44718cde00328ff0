//! The settings as flags of the command line.

use clap::{Arg, ArgAction};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::{
    configuration_file::{ConfigurationFile, user_directory},
    definition::{PROFILE, SETTINGS, Setting, VERBOSE},
    http::HTTP_SETTINGS,
};

/// Returns the flags of all settings that have one, and `-v`. Every subcommand accepts them. The help of a subcommand does not list
/// them, because `tas-mcp help settings` does.
pub fn flags() -> impl Iterator<Item = Arg> {
    let verbose = Arg::new(VERBOSE).short('v').long(VERBOSE).action(ArgAction::SetTrue);
    let verbose = verbose.help("Log what happens, as `--log debug` does").help_heading("Settings");
    let settings = SETTINGS.iter().filter(|setting| !setting.flag.is_empty()).map(flag);

    settings.chain([verbose]).map(|flag| flag.global(true).hide(true))
}

/// Returns the flags of the settings of `tas-mcp http`.
pub fn http_flags() -> impl Iterator<Item = Arg> {
    HTTP_SETTINGS.iter().filter(|setting| !setting.flag.is_empty()).map(|setting| {
        let default = Some(setting.default).filter(|default| !default.is_empty());
        let default = default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
        flag(setting).help(format!("{}{default}", setting.meaning)).help_heading(None)
    })
}

/// Returns a flag whose value is a text: all unusable values are reported together, and not by clap.
fn flag(setting: &'static Setting) -> Arg {
    let flag = Arg::new(setting.flag).long(setting.flag).help(&setting.meaning).help_heading("Settings");
    if setting.is_switch() {
        return flag.action(ArgAction::SetTrue);
    }

    let flag = flag.value_name(setting.value).value_hint(setting.argument.get_value_hint());
    if setting.name() == PROFILE { flag.add(profile_completer()) } else { flag }
}

/// Returns the completion of the name of a profile.
pub fn profile_completer() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let file = user_directory().map(|directory| ConfigurationFile::in_directory(&directory));
        let configuration = file.and_then(|file| file.read().ok());
        let profiles = configuration.map(|configuration| configuration.profiles).unwrap_or_default();
        profiles.into_keys().map(CompletionCandidate::new).collect()
    })
}
