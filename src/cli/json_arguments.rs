//! The flag `--args`: the arguments of a tool as one JSON object.

use std::{fs, io::Read as _};

use anyhow::Context as _;
use clap::{Arg, ArgMatches};
use serde_json::Value;

use super::command_error::CommandError;
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    home_path::expand_home,
    text::trimmed,
};

/// Name of the flag.
pub(super) const ARGS: &str = "args";

/// Maximum size of a file with arguments, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Returns the flag.
pub(super) fn args_flag() -> Arg {
    Arg::new(ARGS)
        .long(ARGS)
        .value_name("JSON")
        .allow_hyphen_values(true)
        .help("All arguments as a JSON object; `@FILE` reads it from a file, `-` from standard input")
}

/// Returns the arguments that the flag gives.
///
/// # Errors
/// `file_error` if the file cannot be read, `invalid_arguments` if the text is not a JSON object.
pub(super) fn read(matches: &ArgMatches) -> Result<Fields, CommandError> {
    // A command may lack the flag.
    let Ok(Some(value)) = matches.try_get_one::<String>(ARGS) else { return Ok(Fields::new()) };
    let text = match value.strip_prefix('@') {
        Some(path) => read_file(path)?,
        None if value == "-" => read_input()?,
        None => value.clone(),
    };

    let problem = match serde_json::from_str(trimmed(&text)) {
        Ok(Value::Object(arguments)) => return Ok(arguments),
        Ok(_) => "it is another JSON value".to_owned(),
        Err(error) => error.to_string(),
    };
    let message = format!("`--{ARGS}` must be a JSON object: {problem}");

    Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent").into())
}

fn read_input() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
    Ok(text)
}

fn read_file(path: &str) -> Result<String, Failure> {
    let failure = |reason: String| {
        let message = format!("`--{ARGS} @{path}` cannot be read: {reason}");
        Failure::new(Code::FileError, message).hint("nothing was sent")
    };

    let file = &*expand_home(path);
    let metadata = fs::metadata(file).map_err(|error| failure(error.to_string()))?;
    if metadata.is_dir() {
        return Err(failure("it is a directory".to_owned()));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(failure("it is larger than 16 MiB".to_owned()));
    }

    fs::read_to_string(file).map_err(|error| failure(error.to_string()))
}
