//! The flags of the command, and the arguments of the tool that they give.

use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use serde_json::{Value, json};

use crate::{
    call::arguments::{CommonArguments, ToolArguments},
    cli::{
        confirmation::YES,
        tool_arguments::{json_flag, properties},
        value_completion::complete_argument,
    },
    fields::Fields,
    service::tool::PROJECT_ID,
    tools::{catalog::ListedTool as _, composite::UploadBuild},
};

/// Positional argument: the files.
pub(super) const FILES: &str = "files";

/// Flag with the name of the build.
pub(super) const NAME: &str = "name";

/// Switch that leaves the details empty.
pub(super) const NO_FILL_DETAILS: &str = "no-fill-details";

/// Switch that omits the digest.
pub(super) const NO_CHECKSUM: &str = "no-checksum";

/// Switch that continues an unfinished upload.
pub(super) const RESUME: &str = "resume";

const TAG: &str = "tag";
const AUTO_DELETE: &str = "auto-delete";

/// Flags with a value: the argument of the tool, the placeholder and the help.
const VALUE_FLAGS: [(&str, &str, &str); 8] = [
    (NAME, "NAME", "Name of the build, for a single file. Default: the file name"),
    (
        "platform",
        "PLATFORM",
        "windows, macos, linux, android, ios-native, ios-simulator, xbox or playstation. Default: derived from the file name",
    ),
    ("description", "TEXT", "Up to 1000 characters"),
    ("details", "JSON", "Origin of the build: an object with the parts vcs, ci, app, build and upload"),
    (
        "deletion_policy",
        "WORD",
        "Builds that --auto-delete deletes first: least_recent or oldest. Default: least_recent",
    ),
    (
        "upload_timeout",
        "MINUTES",
        "How long the service keeps received parts, 1 to 1440. Default: depends on the size, at least 60",
    ),
    ("multipart", "BOOL", "false: send the file in one request. Default: true"),
    (PROJECT_ID, "ID", "Project, if no setting names one"),
];

/// Returns all flags and positional arguments.
pub(super) fn all() -> Vec<Arg> {
    let files = Arg::new(FILES).value_name("FILE").num_args(1..).required(true);
    let tag = Arg::new(TAG).long(TAG).value_name("TAG").action(ArgAction::Append);
    let values = VALUE_FLAGS.map(|(name, placeholder, help)| {
        let flag = Arg::new(name).long(name.replace('_', "-")).value_name(placeholder).help(help);
        match properties(&UploadBuild::tool()).and_then(|schemas| schemas.get(name)) {
            Some(schema) => complete_argument(flag, name, schema),
            None => flag,
        }
    });

    let mut flags =
        vec![files.help("Files to upload, or patterns such as `out/*.apk`").value_hint(ValueHint::FilePath)];
    flags.extend(values);
    flags.extend([
        json_flag(),
        tag.help("Tag of 1 to 50 characters; may be repeated"),
        switch(AUTO_DELETE, "Delete old builds permanently when the storage is full"),
        switch(YES, "Do not ask for confirmation; a person has accepted --auto-delete"),
        switch(NO_FILL_DETAILS, "Do not fill the details from git and CI"),
        switch(NO_CHECKSUM, "Do not compute the SHA-256 of the files, which limits a very fast network"),
        switch(RESUME, "Continue an unfinished upload of the same file instead of cancelling it"),
    ]);
    flags
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Returns the arguments of the tool `upload_build` for the first of the files.
pub(super) fn tool_arguments(matches: &ArgMatches, paths: &[String]) -> ToolArguments {
    let mut arguments = Fields::from_iter([("path".to_owned(), json!(paths.first()))]);
    for (name, ..) in VALUE_FLAGS {
        // The project is not an argument of the tool itself.
        if name != PROJECT_ID
            && let Some(value) = matches.get_one::<String>(name)
        {
            arguments.insert(name.to_owned(), Value::from(value.as_str()));
        }
    }

    if let Some(tags) = matches.get_many::<String>(TAG) {
        arguments.insert("tags".to_owned(), tags.map(String::as_str).collect());
    }

    if matches.get_flag(AUTO_DELETE) {
        arguments.insert("auto_delete".to_owned(), Value::Bool(true));
    }

    let project_id = matches.get_one::<String>(PROJECT_ID).cloned();
    let is_confirmed = matches.get_flag(YES);

    ToolArguments::new(arguments, CommonArguments { project_id, is_confirmed })
}
