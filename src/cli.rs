//! The command line, for people and CI.
//!
//! Each subcommand is a module with the name of the subcommand. `command` returns the definition of its arguments, and
//! `run` executes it. A module of an unsuccessful subcommand returns a `CommandError`; [`run_subcommand`] prints it and
//! derives the exit status.

mod command_error;
mod confirmation;
mod dispatcher;
mod download_progress_bar;
mod exit_status;
mod failure_output;
mod log_output;
mod output;
mod output_file;
mod program;
mod subcommands;
mod table;
mod termination;
mod token_estimate;
mod tool_arguments;
mod tool_lookup;
mod wait_progress;
mod wait_result;

mod call;
mod completions;
mod doctor;
mod download;
mod images;
mod report;
mod run;
mod tools;
mod upload;
mod wait;

pub use exit_status::ExitStatus;
pub use log_output::start_logging;
pub use program::program;
pub use subcommands::run_subcommand;
pub use termination::TerminationSignals;
