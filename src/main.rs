//! Command line of tas-mcp: arguments, settings, logs, subcommand.

use std::{io::Write, net::SocketAddr, process::ExitCode};

use anyhow::Context;
use clap::ArgMatches;
use tas_mcp::{
    cli::{self, Exit, Signals},
    demo,
    mcp::{self, Server},
    sandbox::{self, Options, Sandbox, keys},
    settings::{self, Settings},
};

fn main() -> ExitCode {
    let matches = cli::program().get_matches();
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
        Ok(exit) => ExitCode::from(exit as u8),
        Err(error) => fail(&error),
    }
}

async fn run(matches: &ArgMatches, mut settings: Settings) -> anyhow::Result<Exit> {
    let _sandbox = if settings.wants_sandbox() { Some(embed_sandbox(&mut settings).await?) } else { None };
    match matches.subcommand() {
        Some(("tools", matches)) => return cli::tools(matches, &settings),
        Some(("call", matches)) => return cli::call(matches, &settings).await,
        Some(("run", matches)) => return Box::pin(cli::start(matches, &settings)).await,
        Some(("wait", matches)) => return Box::pin(cli::wait(matches, &settings)).await,
        Some(("report", matches)) => return Box::pin(cli::report(matches, &settings)).await,
        Some(("download", matches)) => return Box::pin(cli::download(matches, &settings)).await,
        Some(("upload", matches)) => return cli::upload(matches, &settings).await,
        Some(("doctor", matches)) => return cli::doctor(matches, &settings).await,
        Some(("completions", matches)) => cli::completions(matches, cli::program()),
        Some(("demo", _)) => demo::run().await,
        Some(("sandbox", matches)) => serve_sandbox(matches, &settings).await,
        _ => Box::pin(serve(&settings)).await,
    }?;

    Ok(Exit::Done)
}

/// Serves MCP on standard input and output, as hosts start it.
async fn serve(settings: &Settings) -> anyhow::Result<()> {
    let server = Server::from_settings(settings);
    let stopping = server.shutdown_token().clone();
    tokio::spawn(async move {
        terminated().await;
        stopping.cancel();
    });

    let (input, output) = rmcp::transport::stdio_pipes();

    Box::pin(mcp::serve_stdio(server, input, output)).await
}

/// Starts a sandbox on a free loopback port and points the settings at it.
async fn embed_sandbox(settings: &mut Settings) -> anyhow::Result<Sandbox> {
    let options = Options { tmsys_name: settings.tmsys_name().to_owned(), ..Options::default() };
    let sandbox = sandbox::start(SocketAddr::from(([127, 0, 0, 1], 0)), options, None).await?;
    settings.use_sandbox(&sandbox.base_url(), &sandbox.knowledge_url(), keys::DEMO);
    Ok(sandbox)
}

/// Serves the sandbox by itself until it is told to end.
async fn serve_sandbox(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<()> {
    let listen = *matches.get_one::<SocketAddr>("listen").context("no address")?;
    let speed = *matches.get_one::<f64>("speed").context("no speed")?;
    let part_size = *matches.get_one::<u64>("part-size").context("no part size")?;
    let options = Options { speed, tmsys_name: settings.tmsys_name().to_owned(), part_size };
    let sandbox =
        sandbox::start(listen, options, None).await.with_context(|| format!("cannot listen on {listen}"))?;

    writeln!(std::io::stdout(), "{}", sandbox.guide())?;
    terminated().await;

    Ok(())
}

/// Waits for the request to end.
async fn terminated() {
    Signals::new().next().await;
}

/// Logs go to standard error: standard output belongs to the protocol.
fn start_logging(settings: &Settings) {
    use tracing_subscriber::{
        filter::LevelFilter, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt,
    };

    // An unusable filter is reported with the other settings.
    let filter = settings::log_filter(settings.log())
        .unwrap_or_else(|_| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines).with(filter).init();
}

fn fail(error: &anyhow::Error) -> ExitCode {
    let is_unread = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<std::io::Error>().is_some_and(is_unread) {
        // Who reads our output has enough of it, such as `head`.
        return ExitCode::SUCCESS;
    }

    drop(writeln!(std::io::stderr(), "tas-mcp: {error:#}"));

    ExitCode::FAILURE
}
