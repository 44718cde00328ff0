//! The command line, for users and CI.
//!
//! Each subcommand is a module with the name of the subcommand. `command` returns the definition of its arguments, and
//! `run` executes it. A module of an unsuccessful subcommand returns a `CommandError`; [`run_subcommand`] prints it and
//! derives the exit status.

mod accounts;
mod calls;
mod checks;
mod columns;
mod command_names;
mod exit_status;
mod failure_output;
mod file_flags;
mod filters;
mod gate;
mod help;
mod hosts;
pub mod junit;
mod lists;
mod log_output;
mod name_resolution;
mod named_arguments;
mod next_command;
mod output;
mod program;
mod progress;
mod records;
mod result_resolution;
mod table;
mod termination;
mod time_argument;
mod tool_arguments;
mod waiting;

mod call;
mod completions;
mod download;
mod export;
mod files;
mod http;
mod install;
mod login;
mod logout;
mod profile;
mod report;
mod rerun;
mod run;
mod show;
mod status;
mod stop;
mod tools;
mod upload;
mod wait;

pub use completions::complete_command_line;
pub use exit_status::ExitStatus;
pub use help::{explain_program, is_started_by_person};
pub use http::serve_http;
pub use log_output::start_logging;
pub use next_command::sandbox_exports;
pub use program::{parse_arguments, program, run_subcommand};
pub use termination::TerminationSignals;
