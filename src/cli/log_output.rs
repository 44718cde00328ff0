//! Logs on standard error, because standard output belongs to the protocol.

use std::io::{self, Write};

use tracing_subscriber::{
    Layer as _,
    filter::{FilterExt as _, FilterFn},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use super::output::disarmed;
use crate::{
    http::ACCESS_TARGET,
    mcp::AUDIT_TARGET,
    settings::{LogFormat, Settings},
    text::single_line,
};

/// Start of the targets of the events of this program, except the logs of requests.
const OWN_TARGET: &str = "tas_mcp";

/// Starts the logs.
pub fn start_logging(settings: &Settings) {
    // The default takes the place of an unusable filter, which is reported together with the other settings.
    let filter = settings.server().log.clone();
    // Libraries log addresses and arguments, which may hold secrets.
    let is_own = FilterFn::new(|metadata| {
        metadata.target().starts_with(OWN_TARGET)
            || [ACCESS_TARGET, AUDIT_TARGET].contains(&metadata.target())
    });

    let lines = tracing_subscriber::fmt::layer().with_writer(LogOutput::default).with_ansi(false);
    let lines = lines.log_internal_errors(false);
    let lines = match settings.server().log_format {
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
        LogFormat::Text => lines.boxed(),
    };
    let subscriber = tracing_subscriber::registry().with(lines.with_filter(is_own.and(filter)));
    #[cfg(feature = "otlp")]
    let subscriber = subscriber.with(crate::http::traces::layer());
    subscriber.init();
}

/// Writes each event as one line of visible characters. A text of the service in an event can neither forge a second
/// line nor control the terminal.
#[derive(Debug, Default)]
struct LogOutput;

impl Write for LogOutput {
    /// Writes an event. The library passes each event as a whole.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let line = disarmed(&single_line(&String::from_utf8_lossy(event)));
        io::stderr().write_all(format!("{line}\n").as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
