//! The definition of the whole command line.

use std::net::SocketAddr;

use clap::{Arg, ArgAction, Command, value_parser};

use super::{call, completions, doctor, download, report, run, tools, upload, wait};
use crate::settings;

/// Returns the program with its settings and subcommands.
pub fn program() -> Command {
    Command::new("tas-mcp")
        .version(env!("CARGO_PKG_VERSION"))
        .about("MCP server for the Test Automation Service. Without a subcommand, serves MCP on standard input and output")
        .args(settings::flags())
        .subcommand(Command::new("demo").about("Shows a session of an assistant with an embedded sandbox"))
        .subcommands([tools::command(), call::command(), run::command(), wait::command()])
        .subcommands([report::command(), upload::command(), download::command()])
        .subcommands([doctor::command(), completions::command(), sandbox_command()])
}

fn sandbox_command() -> Command {
    let listen = Arg::new("listen")
        .long("listen")
        .value_name("ADDR")
        .value_parser(value_parser!(SocketAddr))
        .default_value("127.0.0.1:8080")
        .help("Address and port to listen on; port 0 selects a free port");
    let speed = Arg::new("speed")
        .long("speed")
        .value_name("FACTOR")
        .value_parser(parse_speed)
        // A negative number is a wrong value of this flag, and not another flag.
        .allow_negative_numbers(true)
        .default_value("60")
        .help("Simulated seconds per real second; 0 stops the clock");
    let expose = Arg::new("expose").long("expose").action(ArgAction::SetTrue).help(
        "Permit an address that other machines can reach. Everybody there can read and change the sandbox",
    );
    let part_size = Arg::new("part-size")
        .long("part-size")
        .value_name("BYTES")
        .value_parser(value_parser!(u64).range(1..))
        .default_value("104857600")
        .help("Size of each part of a build upload except the last");

    Command::new("sandbox")
        .about("Serves a simulation of the service from memory, with example data, until it is stopped")
        .args([listen, expose, speed, part_size])
}

/// Parses the speed of the simulated clock.
fn parse_speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed >= 0.0);
    speed.ok_or_else(|| "must be a number from 0".to_owned())
}
