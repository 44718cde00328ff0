//! Builds the caller of a command.

use crate::{call::Caller, failure::Failure, settings::Settings, tools::context::CallerWithFiles};

/// Returns the caller that the settings describe.
///
/// # Errors
/// The settings are unusable. The hint tells how to set them on the command line instead of in the configuration of a
/// host.
pub(super) fn build_caller(settings: &Settings) -> Result<Caller, Failure> {
    Ok(build_caller_with_files(settings)?.caller)
}

/// Returns the caller that the settings describe, for commands that read or write files or call any tool.
///
/// # Errors
/// As [`build_caller`].
pub(super) fn build_caller_with_files(settings: &Settings) -> Result<CallerWithFiles, Failure> {
    settings.tools_config().map(CallerWithFiles::new).map_err(|failure| {
        failure.hint(
            "run `tas-mcp login`, or set them as flags or variables; `tas-mcp help settings` lists them, and `--sandbox` works without settings",
        )
    })
}
