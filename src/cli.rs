//! The command line, for users and CI.
//!
//! Each subcommand is a module with the name of the subcommand. `command` returns the definition of its arguments, and
//! `run` executes it. A module of an unsuccessful subcommand returns a `CommandError`; [`run_subcommand`] prints it and
//! derives the exit status. Flags that commands share have no doc comment, which would become the description of a command.

mod accounts;
mod calls;
mod checks;
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
mod output;
mod progress;
mod records;
mod result_resolution;
mod table;
mod tool_arguments;
mod waiting;

pub use command_names::sandbox_guide;
pub use commands::{
    SandboxArguments, complete_command_line, parse_arguments, program, run_subcommand, serve_http,
};
pub use exit_status::{ExitStatus, TerminationSignals};
pub use help::{explain_program, is_started_by_person};
pub use log_output::start_logging;
pub use output::{print_error, terminal_width, wrapped};
