//! `--images` of `tas-mcp call`: pictures as files.

use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgMatches, value_parser};

use crate::{
    failure::{Code, Failure},
    picture::Picture,
    service::tool::Tool,
};

/// The flag, and how names of the files begin.
const IMAGES: &str = "images";
const PREFIX: &str = "image-";

/// The flag of tools whose answers have pictures.
pub(super) fn flag(tool: &Tool) -> Option<Arg> {
    let flag = Arg::new(IMAGES).long(IMAGES).value_name("DIR").value_parser(value_parser!(PathBuf)).help(
        "Directory for the images: image-1.png and so on. It has to exist, and nothing in it is overwritten",
    );
    tool.has_pictures.then_some(flag)
}

/// The directory for the images. One that cannot take them is refused before anything is sent.
pub(super) fn directory<'a>(tool: &Tool, matches: &'a ArgMatches) -> Result<Option<&'a Path>, Failure> {
    let given = if tool.has_pictures { matches.get_one::<PathBuf>(IMAGES) } else { None };
    let Some(directory) = given else { return Ok(None) };
    let refused = |why: String| {
        let message = format!("`--{IMAGES} {}` {why}", directory.display());
        Failure::new(Code::InvalidArguments, message).hint("name an empty directory; nothing was sent")
    };
    let files = directory.read_dir().map_err(|error| refused(format!("cannot be used: {error}")))?;
    let mut names = files.filter_map(Result::ok).map(|file| file.file_name().to_string_lossy().into_owned());

    match names.find(|name| name.starts_with(PREFIX)) {
        Some(name) => Err(refused(format!("already has `{name}`"))),
        None => Ok(Some(directory)),
    }
}

/// Writes the pictures, numbered as the answer numbers them.
pub(super) fn save(pictures: &[Picture], directory: &Path) -> Result<(), Failure> {
    for (number, picture) in (1..).zip(pictures) {
        let path = directory.join(format!("{PREFIX}{number}.{}", picture.extension()));
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        file.and_then(|mut file| file.write_all(&picture.data)).map_err(|error| {
            Failure::new(Code::FileError, format!("`{}` cannot be written: {error}", path.display()))
                .hint("name another directory with --images and call again")
        })?;
    }
    Ok(())
}
