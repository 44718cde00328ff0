//! Paths that mean the same file in every working directory.

use std::path::Path;

use crate::failure::{Code, Failure};

/// Returns the absolute form of `path`, which is relative to `directory`.
///
/// # Errors
/// `file_error`: the path is not Unicode.
pub(super) fn absolute(directory: &Path, path: &str) -> Result<String, Failure> {
    let path = directory.join(path);
    let path = std::path::absolute(&path).unwrap_or(path);
    let text = path.to_str().map(str::to_owned);

    text.ok_or_else(|| {
        let message = format!("the path {} is not Unicode", path.display());
        Failure::new(Code::FileError, message).hint("name a directory with `--files-root`")
    })
}
