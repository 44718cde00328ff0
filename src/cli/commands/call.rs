//! `tas-mcp call`: calls any tool. Each tool is a subcommand whose flags are the arguments of the tool. The images of a
//! reply can be saved as files.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, FromArgMatches as _};

use crate::{
    cli::{
        calls::{build_caller_with_files, call_with_confirmation},
        exit_status::{CommandError, ExitStatus},
        failure_output::FailureOutput,
        file_flags::path_value,
        help::{arranged, help_end},
        name_resolution::NameResolver,
        named_arguments,
        output::{Output, OutputFlags, note_written},
        records::RecordPrinter,
        tool_arguments::{self, find_tool, read_arguments},
    },
    failure::{Code, Failure},
    picture::Picture,
    service::tool::ToolDefinition,
    settings::Settings,
    tools::catalog,
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp --sandbox call list_tests --page-size 3",
    "tas-mcp --sandbox call get_run --run-id RUN_ID",
    r#"tas-mcp --sandbox call list_runs --args '{"tags": ["nightly"]}'"#,
];

const IMAGES: &str = "images";

const IMAGE_PREFIX: &str = "image-";

/// Returns the definition of the command. Its subcommands are built only when the command is used.
pub(super) fn command() -> Command {
    Command::new("call").about("Calls a tool and prints the result").defer(|command| {
        arranged(
            command
                .subcommand_required(true)
                .subcommand_value_name("TOOL")
                .arg_required_else_help(true)
                // An unknown name reaches `find_tool`, which names the most similar tool.
                .allow_external_subcommands(true)
                .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
                .subcommands(
                    catalog::tools().map(|tool| {
                        arranged(tool_arguments::command(tool.info).args(images_flag(tool.info)))
                    }),
                ),
        )
    })
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (name, matches) = matches.subcommand().context("the tool is missing")?;
    let tool = find_tool(name)?;
    let mut arguments = read_arguments(tool.info, matches)?;
    let directory = images_directory(tool.info, matches)?;
    let output = Output::from(OutputFlags::from_arg_matches(matches)?);

    let tools = build_caller_with_files(settings)?;
    let project = arguments.common.project_id.clone();
    let resolver = NameResolver::new(&tools.caller, project.as_deref());
    named_arguments::resolve(resolver, tool.info, &mut arguments.own).await?;
    named_arguments::resolve_results(resolver, &mut arguments.own).await?;
    let reply = call_with_confirmation(&tools, tool, arguments).await?;

    let printed = RecordPrinter::new(tool.info, matches, &output).print(&tools.caller, reply.value()).await?;
    // The images are saved even if standard output is closed.
    let saved = directory.map_or(Ok(()), |directory| save_images(reply.pictures(), directory));
    if let Err(failure) = &saved {
        FailureOutput::from_matches(matches).print(failure);
    }

    Ok(if saved.is_ok() { printed } else { ExitStatus::Rejected })
}

/// Returns the flag for the directory of images; `None` for a tool whose replies contain no images.
fn images_flag(tool: &ToolDefinition) -> Option<Arg> {
    let flag = Arg::new(IMAGES)
        .long(IMAGES)
        .value_name("DIR")
        .value_parser(path_value())
        .help("Existing directory for the images (image-1.png and so on). No file in it is overwritten");
    tool.has_pictures.then_some(flag)
}

/// Returns the directory for the images. Checks the directory before any request is sent.
fn images_directory<'a>(tool: &ToolDefinition, matches: &'a ArgMatches) -> Result<Option<&'a Path>, Failure> {
    let given = if tool.has_pictures { matches.get_one::<PathBuf>(IMAGES) } else { None };
    let Some(directory) = given else { return Ok(None) };

    let refusal = |reason: String| {
        let message = format!("`--{IMAGES} {}` {reason}", directory.display());
        Failure::new(Code::InvalidArguments, message).hint("name an empty directory; nothing was sent")
    };
    let files = directory.read_dir().map_err(|error| refusal(format!("cannot be used: {error}")))?;
    let mut names = files.filter_map(Result::ok).map(|file| file.file_name().to_string_lossy().into_owned());

    match names.find(|name| name.starts_with(IMAGE_PREFIX)) {
        Some(name) => Err(refusal(format!("already contains `{name}`"))),
        None => Ok(Some(directory)),
    }
}

/// Writes the images to numbered files, in the order of the reply.
fn save_images(pictures: &[Picture], directory: &Path) -> Result<(), Failure> {
    for (number, picture) in (1..).zip(pictures) {
        let path = directory.join(format!("{IMAGE_PREFIX}{number}.{}", picture.extension()));
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
