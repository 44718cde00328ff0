//! The flags that both subcommands have.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches};

use crate::{
    cli::path_value::path_value,
    failure::Failure,
    tools::{files::Destination, upload::FileServices},
};

const TO: &str = "to";

/// Switch that permits the replacement of existing files.
pub(super) const OVERWRITE: &str = "overwrite";

/// Returns the flag for the directory.
pub(super) fn to_flag(help: &'static str) -> Arg {
    Arg::new(TO).long(TO).value_name("DIR").value_parser(path_value()).help(help)
}

/// Returns the switch that permits the replacement of existing files.
pub(super) fn overwrite_flag(help: &'static str) -> Arg {
    Arg::new(OVERWRITE).long(OVERWRITE).action(ArgAction::SetTrue).help(help)
}

/// Returns the directory to save files in.
///
/// # Errors
/// The failure of unusable settings, or of a directory that must not be used.
pub(super) fn destination(
    matches: &ArgMatches,
    files: &FileServices,
    default: &str,
) -> Result<Destination, Failure> {
    let directory = matches.get_one::<PathBuf>(TO).map(|path| path.to_string_lossy().into_owned());
    files.download_root_for_user()?.destination(directory.as_deref().unwrap_or(default))
}
