//! Command line of tas-mcp: arguments, settings, logs, subcommand.

use std::{io::Write, process::ExitCode};

use clap::{ArgMatches, Command};
use tas_mcp::{
    config::{self, Settings},
    mcp::{self, Server},
};

fn main() -> ExitCode {
    let matches = command().get_matches();
    let settings = Settings::read(&matches);
    start_logging(&settings);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let outcome = runtime.block_on(run(&matches, settings));
    // A blocked read of standard input must not keep the process.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn command() -> Command {
    Command::new("tas-mcp")
        .version(env!("CARGO_PKG_VERSION"))
        .about("MCP server for the Test Automation Service. Without a subcommand it serves MCP on standard input and output")
        .args(config::flags())
}

async fn run(matches: &ArgMatches, settings: Settings) -> anyhow::Result<()> {
    match matches.subcommand() {
        _ => serve(settings).await,
    }
}

/// Serves MCP on standard input and output, as hosts start it.
async fn serve(settings: Settings) -> anyhow::Result<()> {
    let server = Server::new(&settings);
    let stopping = server.stopping().clone();
    tokio::spawn(async move {
        terminated().await;
        stopping.cancel();
    });
    let (input, output) = rmcp::transport::stdio_pipes();
    mcp::serve_stdio(server, input, output).await
}

/// Waits for the request to end: SIGTERM, SIGINT, or Ctrl-C where there are no signals.
async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut interrupt)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
            }
        }
    }
    drop(tokio::signal::ctrl_c().await);
}

/// Logs go to standard error: standard output belongs to the protocol.
fn start_logging(settings: &Settings) {
    use tracing_subscriber::{
        filter::LevelFilter, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt,
    };
    // An unusable filter is reported with the other settings.
    let filter =
        config::log_filter(settings.log()).unwrap_or_else(|_| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines).with(filter).init();
}

fn fail(error: &anyhow::Error) -> ExitCode {
    drop(writeln!(std::io::stderr(), "tas-mcp: {error:#}"));
    ExitCode::FAILURE
}
