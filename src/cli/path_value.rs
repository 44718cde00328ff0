//! The value of a flag that names a file or a directory.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::home_path::expand_home_path;

/// Returns the parser of the value. Shells do not expand the `~` of `--html=~/report.html`.
pub(super) fn path_value() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(expand_home_path)
}
