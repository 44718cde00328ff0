//! The settings as flags of the command line.

use std::ffi::OsStr;

use clap::{Arg, ArgAction};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};

use super::{
    definition::{LOG, PROFILE, SETTINGS, Setting, TOOLSETS, VERBOSE},
    http::HTTP_SETTINGS,
    project_file::SettingFiles,
};
use crate::tools::selection;

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
        let default = format!(" [default: {}]", setting.default);
        let default = if setting.default.is_empty() { String::new() } else { default };
        flag(setting).help(format!("{}{default}", setting.meaning)).help_heading(None)
    })
}

fn flag(setting: &'static Setting) -> Arg {
    let flag = Arg::new(setting.flag).long(setting.flag).help(&setting.meaning).help_heading("Settings");

    if setting.is_switch() {
        return flag.action(ArgAction::SetTrue);
    }
    let flag = flag.value_name(setting.value).value_hint(setting.argument.get_value_hint());
    if setting.name() == PROFILE {
        return flag.add(profile_completer());
    }
    // A completer would replace the completion of files.
    if words(setting).is_empty() {
        return flag;
    }
    flag.add(ArgValueCompleter::new(|typed: &OsStr| complete_last_word(setting, typed)))
}

/// Returns the completion of the name of a profile.
pub fn profile_completer() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        SettingFiles::of_process().profile_names().into_iter().map(CompletionCandidate::new).collect()
    })
}

/// Returns the words that are values of `setting`, or parts of a list of values.
fn words(setting: &Setting) -> Vec<String> {
    match setting.name() {
        TOOLSETS => selection::words().map(str::to_owned).collect(),
        LOG => ["error", "warn", "info", "debug", "trace"].map(str::to_owned).to_vec(),
        _ => setting.words(),
    }
}

/// Returns the completions of the last word of a list that is separated by commas.
fn complete_last_word(setting: &Setting, typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let (earlier, last) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));

    let words = words(setting).into_iter().filter(|word| word.starts_with(last));
    words.map(|word| CompletionCandidate::new(format!("{earlier}{word}"))).collect()
}
