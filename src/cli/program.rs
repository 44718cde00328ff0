//! The whole command line.

use std::net::SocketAddr;

use clap::{Arg, Command, value_parser};

use super::{
    call_command, completions_command, doctor_command, download_command, report_command, run_command,
    tools_command, upload_command, wait_command,
};
use crate::settings;

/// The program with its settings and subcommands.
pub fn program() -> Command {
    Command::new("tas-mcp")
        .version(env!("CARGO_PKG_VERSION"))
        .about("MCP server for the Test Automation Service. Without a subcommand it serves MCP on standard input and output")
        .args(settings::flags())
        .subcommand(Command::new("demo").about("Shows an assistant's session against an embedded sandbox"))
        .subcommands([tools_command(), call_command(), run_command(), wait_command()])
        .subcommand(report_command())
        .subcommands([upload_command(), download_command(), doctor_command(), completions_command()])
        .subcommand(sandbox_command())
}

fn sandbox_command() -> Command {
    let listen = Arg::new("listen").long("listen").value_name("ADDR").value_parser(value_parser!(SocketAddr));
    let speed = Arg::new("speed").long("speed").value_name("FACTOR").value_parser(value_parser!(f64));
    let part_size = Arg::new("part-size")
        .long("part-size")
        .value_name("BYTES")
        .value_parser(value_parser!(u64).range(1..));

    Command::new("sandbox")
        .about("Serves the service from memory, with seed data, until it is told to end")
        .arg(
            listen
                .default_value("127.0.0.1:8080")
                .help("Address and port to listen on; port 0 takes a free one"),
        )
        .arg(speed.default_value("60").help("Simulated seconds for each real one; 0: the clock stands still"))
        .arg(part_size.default_value("104857600").help("Bytes of each part of a build upload but the last"))
}
