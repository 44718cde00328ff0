//! The flag that names the JUnit file.

use clap::{Arg, ArgMatches};

use crate::{
    cli::{output_file::OutputFile, path_value::path_value},
    failure::Failure,
};

/// Name of the flag.
pub(in crate::cli) const JUNIT: &str = "junit";

/// Returns the flag.
pub(in crate::cli) fn junit_flag() -> Arg {
    let flag = Arg::new(JUNIT).long(JUNIT).value_name("FILE").value_parser(path_value());
    flag.help("Write the verdicts as JUnit XML, for CI")
}

/// Returns the file that the flag names.
///
/// # Errors
/// `file_error` if the file cannot be written.
pub(in crate::cli) fn junit_file(matches: &ArgMatches) -> Result<Option<OutputFile>, Failure> {
    OutputFile::from_flag(matches, JUNIT)
}
