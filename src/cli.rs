//! The command line, for users and CI.
//!
//! Each subcommand is a module with the name of the subcommand. `command` returns the definition of its arguments, and
//! `run` executes it. A module of an unsuccessful subcommand returns a `CommandError`; [`run_subcommand`] prints it and
//! derives the exit status.

mod accounts;
mod advice;
mod build_choice;
mod caller;
mod command_error;
mod command_line_text;
mod confirmation;
mod cost_question;
mod download_progress_bar;
mod exit_status;
mod failure_output;
mod help_end;
mod host_change;
mod host_command;
mod host_file;
mod hosts;
mod interrupted_wait;
mod introduction;
mod json_arguments;
mod lists;
mod log_output;
mod name_completion;
mod name_resolution;
mod named_arguments;
mod notes;
mod output;
mod output_file;
mod path_value;
mod program;
mod quoting;
mod record_table;
mod reply_output;
mod settings_help;
mod shell;
mod subcommands;
mod table;
mod termination;
mod token_estimate;
mod tool_arguments;
mod tool_lookup;
mod user_configuration;
mod value_completion;
mod wait_progress;
mod wait_result;
mod write_target;

mod call;
mod complete;
mod completions;
mod config;
mod doctor;
mod download;
mod export;
mod http;
mod images;
mod install;
mod login;
mod logout;
mod profile;
mod report;
mod run;
mod status;
mod stop;
mod tools;
mod uninstall;
mod upload;
mod wait;

pub use advice::sandbox_exports;
pub use complete::completed_matches;
pub use exit_status::ExitStatus;
pub use http::serve_http;
pub use introduction::{explain_program, is_started_by_person};
pub use log_output::start_logging;
pub use program::{parse_arguments, program};
pub use subcommands::run_subcommand;
pub use termination::TerminationSignals;
