//! Builds the dispatcher that commands call tools with.

use crate::{settings::Settings, tools::dispatcher::Dispatcher};

/// Returns a dispatcher with these settings. If the settings are unusable, every call fails, and the hint tells how to
/// set them on the command line instead of in the configuration of a host.
pub(super) fn build_dispatcher(settings: &Settings) -> Dispatcher {
    let config = settings.tools_config().map_err(|failure| {
        failure.hint(
            "run `tas-mcp login`, or set them as flags or variables or with `tas-mcp config set`; `tas-mcp help settings` lists them, and `--sandbox` works without settings",
        )
    });
    Dispatcher::new(config)
}
