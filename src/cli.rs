//! The command line, for users and CI.
//!
//! Each subcommand is a module with the name of the subcommand. `command` returns the definition of its arguments, and
//! `run` executes it. A module of an unsuccessful subcommand returns a `CommandError`; [`run_subcommand`] prints it and
//! derives the exit status.

mod accounts;
mod calls;
mod checks;
mod ci_job;
mod columns;
mod command_names;
mod commands;
mod exit_status;
mod failure_output;
mod file_flags;
mod filters;
mod gate;
mod help;
pub mod junit;
mod log_output;
mod name_resolution;
mod named_arguments;
mod next_command;
mod output;
mod progress;
mod records;
mod result_resolution;
mod table;
mod termination;
mod time_argument;
mod tool_arguments;
mod waiting;

pub use commands::{
    SandboxArguments, complete_command_line, parse_arguments, program, run_subcommand, serve_http,
};
pub use exit_status::ExitStatus;
pub use help::{explain_program, is_started_by_person};
pub use log_output::start_logging;
pub use next_command::sandbox_guide;
pub use output::{print_error, terminal_width, wrapped};
pub use termination::TerminationSignals;
