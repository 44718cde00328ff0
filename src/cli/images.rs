//! The flag `--images` of `tas-mcp call`: saves the images of a reply as files.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgMatches};

use super::{notes::note_written, path_value::path_value};
use crate::{
    failure::{Code, Failure},
    picture::Picture,
    service::tool::ToolDefinition,
};

/// Name of the flag.
const IMAGES: &str = "images";

/// Beginning of the names of the files.
const PREFIX: &str = "image-";

/// Returns the flag, if the replies of `tool` contain images.
pub(super) fn flag(tool: &ToolDefinition) -> Option<Arg> {
    let flag = Arg::new(IMAGES)
        .long(IMAGES)
        .value_name("DIR")
        .value_parser(path_value())
        .help("Existing directory for the images (image-1.png and so on). No file in it is overwritten");
    tool.has_pictures.then_some(flag)
}

/// Returns the directory for the images. Checks the directory before any request is sent.
///
/// # Errors
/// `invalid_arguments` if the directory cannot be read or already contains images.
pub(super) fn directory<'a>(
    tool: &ToolDefinition,
    matches: &'a ArgMatches,
) -> Result<Option<&'a Path>, Failure> {
    let given = if tool.has_pictures { matches.get_one::<PathBuf>(IMAGES) } else { None };
    let Some(directory) = given else { return Ok(None) };

    let refusal = |reason: String| {
        let message = format!("`--{IMAGES} {}` {reason}", directory.display());
        Failure::new(Code::InvalidArguments, message).hint("name an empty directory; nothing was sent")
    };
    let files = directory.read_dir().map_err(|error| refusal(format!("cannot be used: {error}")))?;
    let mut names = files.filter_map(Result::ok).map(|file| file.file_name().to_string_lossy().into_owned());

    match names.find(|name| name.starts_with(PREFIX)) {
        Some(name) => Err(refusal(format!("already contains `{name}`"))),
        None => Ok(Some(directory)),
    }
}

/// Writes the images to numbered files, in the order of the reply.
///
/// # Errors
/// `file_error` for the first file that cannot be written.
pub(super) fn save(pictures: &[Picture], directory: &Path) -> Result<(), Failure> {
    for (number, picture) in (1..).zip(pictures) {
        let path = directory.join(format!("{PREFIX}{number}.{}", picture.extension()));
        // `create_new` fails instead of overwriting a file that was created in the meantime.
        let file = OpenOptions::new().write(true).create_new(true).open(&path);

        let written = file.and_then(|mut file| {
            // A file that filled the disk does not stay.
            file.write_all(&picture.data).inspect_err(|_| drop(fs::remove_file(&path)))
        });
        written.map_err(|error| {
            Failure::new(Code::FileError, format!("`{}` cannot be written: {error}", path.display()))
                .hint("name another directory with --images and call again")
        })?;
        note_written(&path);
    }

    Ok(())
}
