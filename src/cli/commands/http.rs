//! `tas-mcp http`: serves MCP over Streamable HTTP.

use std::io::Write as _;

use clap::Command;
use serde_json::json;

use crate::{
    cli::{
        exit_status::{ExitStatus, TerminationSignal, TerminationSignals},
        help::help_end,
        output::print_error,
    },
    http::{Application, HttpServer, StopRequest},
    settings::{self, LogFormat, Settings},
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp http --sandbox",
    "tas-mcp http --listen 0.0.0.0:8900 --public-url https://tas.example.com",
    "tas-mcp http --toolsets lean --read-only",
];

const NOTES: &str = "Each client sends its own API key, in the header X-Api-Key or as a bearer token; with an issuer, bearer tokens are user tokens. A key in the settings serves requests without a key, and only on a loopback address. The endpoint is /mcp, or /mcp/PROJECT for one project.";

pub(super) fn command() -> Command {
    Command::new("http")
        .about("Serves MCP over Streamable HTTP, for many clients at once, until it is stopped")
        .after_help(help_end(&EXAMPLES, NOTES))
        .args(settings::http_flags())
}

/// Serves MCP over HTTP until a signal arrives and the calls under way have ended. A second signal ends the server at
/// once. An operator reads which settings cannot be used, or which address cannot be listened on.
///
/// # Errors
/// The addresses of the server are unknown.
pub async fn serve_http(settings: &Settings) -> anyhow::Result<ExitStatus> {
    let application = Application::from_settings(settings).map_err(anyhow::Error::from);
    let server = match application.and_then(|application| Ok(HttpServer::bind(application)?)) {
        Ok(server) => server,
        Err(error) => {
            print_error(&format!("tas-mcp: {error:#}\n"));
            return Ok(ExitStatus::InvalidInput);
        }
    };

    let say = |message: &str| {
        let line = match settings.server().log_format {
            LogFormat::Json => json!({"message": message}).to_string(),
            LogFormat::Text => message.to_owned(),
        };
        // If standard error is closed, the server runs without these lines.
        drop(writeln!(std::io::stderr(), "{line}"));
    };
    say(&format!("listening on http://{}/mcp", server.address()?));
    if let Some(address) = server.admin_address()? {
        say(&format!("admin on http://{address}"));
    }

    let mut signals = TerminationSignals::new();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let serving = server.serve(async { stopped.await.unwrap_or(StopRequest::Announced) });
    let second_signal = async {
        let request = match signals.receive().await {
            // No proxy has to notice the end.
            TerminationSignal::Interrupt => StopRequest::AtOnce,
            TerminationSignal::Terminate => StopRequest::Announced,
        };
        say("stopping: calls under way may end; a second signal ends the process at once");
        // The server has already ended if nothing receives.
        let _: Result<(), StopRequest> = stop.send(request);
        signals.next().await;
    };

    tokio::select! {
        () = serving => {}
        () = second_signal => {}
    }

    Ok(ExitStatus::Success)
}
