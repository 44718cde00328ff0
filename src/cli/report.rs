//! `tas-mcp report`: summarizes a run, a job or a plan execution; with `--html` as a page.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;

use super::{
    command_error::CommandError,
    dispatcher::build_dispatcher,
    exit_status::ExitStatus,
    failure_output::print_failure,
    output::{print_line, print_text, prints_json, status_after_output},
    output_file::OutputFile,
    tool_arguments::{PROJECT_HELP, RAW, RAW_HELP},
};
use crate::{
    failure::Failure,
    service::tool::PROJECT_ID,
    settings::Settings,
    tools::{
        dispatcher::Dispatcher,
        report::{self, ReportData, ReportSubject, SummaryText},
        summary::Summary,
    },
};

const ID: &str = "id";
const HTML: &str = "html";
const COMPARE_WITH: &str = "compare-with";

/// File name that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let id = Arg::new(ID).value_name("ID").required(true);
    let html = Arg::new(HTML).long(HTML).value_name("FILE").value_parser(value_parser!(PathBuf));
    let compare_with = Arg::new(COMPARE_WITH).long(COMPARE_WITH).value_name("ID");
    let project = Arg::new(PROJECT_ID).long("project-id").value_name("ID");
    let raw = Arg::new(RAW).long(RAW).action(ArgAction::SetTrue);

    Command::new("report")
        .about("Summarizes a run, a job or a plan execution; with --html as a page")
        .after_help(ExitStatus::HELP)
        .arg(id.help("Id of the run, job or execution"))
        .arg(html.help("Write one HTML file that loads nothing; `-` for standard output"))
        .arg(
            compare_with.help("Show the changes since `previous`, or since an earlier execution, job or run"),
        )
        .arg(project.help(PROJECT_HELP))
        .arg(raw.help(RAW_HELP))
}

/// Prints the summary, or writes the page.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let to_output = matches.get_one::<PathBuf>(HTML).is_some_and(|path| path == Path::new(STANDARD_OUTPUT));
    let file = if to_output { None } else { OutputFile::from_flag(matches, HTML)? };
    let raw = matches.get_flag(RAW);
    let request = ReportRequest {
        dispatcher: build_dispatcher(settings),
        project: matches.get_one::<String>(PROJECT_ID).cloned(),
        id: matches.get_one::<String>(ID).cloned().unwrap_or_default(),
        compare_with: matches.get_one::<String>(COMPARE_WITH).cloned(),
    };

    match file {
        Some(file) => request.write_page(&file, raw).await,
        None if to_output => {
            let page = report::page_with_data(&json!(request.gather().await?));
            Ok(status_after_output(ExitStatus::Success, print_text(page)))
        }
        None => {
            let printed = print_summary(&request.summarize().await?, raw);
            Ok(status_after_output(ExitStatus::Success, printed))
        }
    }
}

/// What the command asks for.
struct ReportRequest {
    dispatcher: Dispatcher,
    project: Option<String>,
    id: String,
    compare_with: Option<String>,
}

impl ReportRequest {
    async fn subject(&self) -> Result<ReportSubject, Failure> {
        let subject =
            ReportSubject::find(self.dispatcher.gateway(), self.project.as_deref(), &self.id).await?;
        Ok(subject.compared_with(self.compare_with.as_deref()))
    }

    /// Returns the data of the page.
    async fn gather(&self) -> Result<ReportData, Failure> {
        report::gather_data(&self.subject().await?, &self.dispatcher, self.project.as_deref()).await
    }

    async fn summarize(&self) -> Result<Summary, Failure> {
        self.subject().await?.summarize(&self.dispatcher, self.project.as_deref()).await
    }

    /// Writes the page. If the file cannot be written, prints the summary instead, so that the result is not lost.
    async fn write_page(&self, file: &OutputFile, raw: bool) -> Result<ExitStatus, CommandError> {
        let data = self.gather().await?;
        let page = report::page_with_data(&json!(data));
        let Err(failure) = file.write(&page) else { return Ok(ExitStatus::Success) };

        let summary = match data.summary {
            Some(summary) => Ok(summary),
            None => self.summarize().await,
        };
        let printed = match summary {
            Ok(summary) => print_summary(&summary, raw),
            Err(failure) => {
                print_failure(&failure);
                Ok(())
            }
        };
        print_failure(&failure);

        Ok(status_after_output(ExitStatus::Rejected, printed))
    }
}

/// Prints a summary as text on a terminal, otherwise as JSON.
fn print_summary(summary: &Summary, raw: bool) -> std::io::Result<()> {
    if prints_json(raw) { print_line(json!(summary)) } else { print_text(SummaryText(summary)) }
}
