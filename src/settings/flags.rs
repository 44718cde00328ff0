//! The settings as flags of the command line.

use clap::{Arg, ArgAction};

use super::{definitions::SETTINGS, setting::Setting};

/// Returns the flags of all settings that have one. Every subcommand accepts them.
pub fn flags() -> impl Iterator<Item = Arg> {
    SETTINGS.iter().filter(|setting| !setting.flag.is_empty()).map(|setting| flag(setting))
}

fn flag(setting: &Setting) -> Arg {
    let help = match setting.variable {
        "" => setting.meaning.to_owned(),
        variable => format!("{} [{variable}]", setting.meaning),
    };
    let flag = Arg::new(setting.flag).long(setting.flag).global(true).help(help).help_heading("Settings");

    if setting.is_switch() { flag.action(ArgAction::SetTrue) } else { flag.value_name(setting.value) }
}
