//! The process: parses the arguments, reads the settings, starts the logs and runs a subcommand.

use std::{
    io::{ErrorKind, Write as _},
    net::SocketAddr,
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{ArgMatches, FromArgMatches as _};
use tas_mcp::{
    cli::{self, ExitStatus, SandboxArguments, TerminationSignals},
    demo,
    mcp::{self, Server},
    sandbox::{self, Options, Sandbox, keys},
    settings::Settings,
};
use uuid::Uuid;

fn main() -> ExitCode {
    match cli::complete_command_line(cli::program) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => return report_error(&error.into()),
    }

    let matches = match cli::parse_arguments(std::env::args_os()) {
        Ok(matches) => matches,
        Err(status) => return ExitCode::from(status as u8),
    };
    let settings = Settings::read(matches.as_ref());
    cli::start_logging(&settings);

    let runtime = match runtime(matches.as_ref()).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report_error(&error.into()),
    };
    let outcome = runtime.block_on(run(matches.as_ref(), settings));
    // A pending read of standard input cannot be cancelled and must not delay the end of the process.
    runtime.shutdown_background();

    match outcome {
        Ok(status) => ExitCode::from(status as u8),
        Err(error) => report_error(&error),
    }
}

/// Returns the runtime of a subcommand. The server for teams has a thread for each processor, so that a long message of one client
/// delays no other one. The server for one host has one: more of them take more processor time and answer no sooner.
fn runtime(matches: Option<&ArgMatches>) -> tokio::runtime::Builder {
    let subcommand = matches.and_then(ArgMatches::subcommand_name);
    if !matches!(subcommand, None | Some("http")) {
        return tokio::runtime::Builder::new_current_thread();
    }

    let mut several = tokio::runtime::Builder::new_multi_thread();
    if subcommand.is_none() {
        several.worker_threads(1);
    }
    several
}

/// Runs the subcommand, or the server if there is none.
async fn run(matches: Option<&ArgMatches>, mut settings: Settings) -> anyhow::Result<ExitStatus> {
    let subcommand = matches.and_then(ArgMatches::subcommand);
    if subcommand.is_none() && cli::is_started_by_person() {
        return Ok(cli::explain_program());
    }

    // The sandbox runs until this variable is dropped.
    let is_public = matches!(subcommand, Some(("http", _)));
    let _sandbox =
        if settings.wants_sandbox() { Some(embed_sandbox(&mut settings, is_public).await?) } else { None };

    match subcommand {
        None => serve(&settings).await?,
        Some(("demo", _)) => demo::run().await?,
        Some(("http", _)) => return cli::serve_http(&settings).await,
        Some(("sandbox", matches)) => serve_sandbox(matches, &settings).await?,
        Some((name, matches)) => return cli::run_subcommand(name, matches, &settings).await,
    }

    Ok(ExitStatus::Success)
}

/// Serves MCP on standard input and output until the host closes the input or a signal arrives.
async fn serve(settings: &Settings) -> anyhow::Result<()> {
    let server = Server::from_settings(settings).with_list();
    let stopping = server.shutdown_token().clone();
    let parent_exit = mcp::parent_exit();
    tokio::spawn(async move {
        // A request that has arrived already is answered first.
        tokio::task::yield_now().await;
        let mut signals = TerminationSignals::new();
        tokio::select! {
            () = signals.next() => {}
            () = parent_exit => {}
        }
        stopping.cancel();
    });

    let (input, output) = rmcp::transport::stdio_pipes();
    mcp::serve_stdio(server, input, output).await
}

/// Starts a sandbox on a free loopback port, and changes the settings so that they use it. Its keys are known to this process
/// alone, unless clients of a server bring the public ones.
async fn embed_sandbox(settings: &mut Settings, is_public: bool) -> anyhow::Result<Sandbox> {
    let secret = if is_public { String::new() } else { format!("_{}", Uuid::now_v7().simple()) };
    let key = format!("{}{secret}", keys::DEMO);
    let options = Options { tmsys_name: settings.server().tmsys_name.clone(), secret, ..Options::default() };
    let sandbox = sandbox::start(SocketAddr::from(([127, 0, 0, 1], 0)), options, None).await?;
    settings.use_sandbox(&sandbox.base_url(), &sandbox.knowledge_url(), &key);
    Ok(sandbox)
}

/// Serves the sandbox alone until a signal arrives.
async fn serve_sandbox(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<()> {
    let arguments = SandboxArguments::from_arg_matches(matches)?;
    arguments.check_listen_address()?;
    let SandboxArguments { listen, speed, part_size, .. } = arguments;
    let tmsys_name = settings.server().tmsys_name.clone();
    let options = Options { speed, tmsys_name, part_size, ..Options::default() };
    let sandbox =
        sandbox::start(listen, options, None).await.with_context(|| format!("cannot listen on {listen}"))?;

    let guide = cli::sandbox_guide(&sandbox.base_url(), &sandbox.knowledge_url(), keys::DEMO);
    writeln!(std::io::stdout(), "{guide}")?;
    TerminationSignals::new().next().await;

    Ok(())
}

/// Prints an error and returns the exit code. A closed pipe is not an error: a reader such as `head` has read enough.
fn report_error(error: &anyhow::Error) -> ExitCode {
    let io_error = error.downcast_ref::<std::io::Error>();
    if io_error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }

    cli::print_error(&format!("tas-mcp: {error:#}\n"));

    ExitCode::FAILURE
}
