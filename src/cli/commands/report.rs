//! `tas-mcp report`: summarizes a run, a job or a plan execution; with `--html` as a page, and with `--markdown` for a CI
//! job or a pull request.

use std::{
    io,
    path::{Path, PathBuf},
};

use clap::{ArgMatches, Args, Command, FromArgMatches as _, value_parser};
use serde_json::json;

use super::completions::result_names;
use crate::{
    cli::{
        calls::build_caller_with_files,
        command_names::CommandLine,
        exit_status::{CommandError, ExitStatus},
        failure_output::FailureOutput,
        file_flags::{OutputFile, path_value},
        help::help_end,
        name_resolution::NameResolver,
        output::{JsonFlag, LengthFlag, note, print_json, print_paragraphs, print_text, status_after_output},
        tool_arguments::ProjectFlag,
    },
    failure::{Code, Failure},
    settings::Settings,
    text::{WallClock, visible},
    tools::{
        context::CallerWithFiles,
        report::{self, PictureForm, ReportData, ReportSubject},
        summary::Summary,
    },
};

const EXAMPLES: [&str; 5] = [
    "tas-mcp report latest",
    r#"tas-mcp report "Release smoke" --compare-with previous"#,
    r#"tas-mcp report "Release smoke" --history 10"#,
    r#"tas-mcp report "Pause and resume" --html report.html"#,
    r#"tas-mcp report "Release smoke" --markdown"#,
];

/// File name that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// What a user should know about a page without the host that has files of runs.
const NO_SCREENSHOTS: &str = "note: the report has no screenshots, because the host that has them is not set: `tas-mcp login --knowledge-url URL` stores it";

#[derive(Args)]
struct ReportArguments {
    /// Id of a run, a job or an execution; or the name of a test or a plan: its latest result; or `latest`; or the ids of
    /// several jobs, such as a rerun starts
    #[arg(value_name = "ID", required = true, num_args = 1..=50, add = result_names())]
    ids: Vec<String>,

    /// Write one HTML file that loads nothing, with screenshots; `-` for standard output
    #[arg(long, value_name = "FILE", value_parser = path_value(), conflicts_with = "max_chars")]
    html: Option<PathBuf>,

    /// Write Markdown of at most 60,000 characters, for the summary of a CI job and for pull requests; without FILE to
    /// standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = STANDARD_OUTPUT, value_parser = path_value(), conflicts_with = "max_chars")]
    markdown: Option<PathBuf>,

    /// Leave the screenshots out of the report
    #[arg(long)]
    no_pictures: bool,

    /// Show what is new, known and fixed since `previous`, `latest-passed`, an earlier execution, job or run, or the last
    /// result on a build
    #[arg(long, value_name = "RESULT")]
    compare_with: Option<String>,

    /// Show the last N results of the plan or the test as a grid, test by test; 2 to 30
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(2..=30))]
    history: Option<u8>,

    #[command(flatten)]
    project: ProjectFlag,

    #[command(flatten)]
    output: JsonFlag,

    #[command(flatten)]
    length: LengthFlag,
}

pub(super) fn command() -> Command {
    let command = Command::new("report")
        .about("Summarizes a run, a job or a plan execution; also as a page or as Markdown")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP));

    ReportArguments::augment_args(command)
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = ReportArguments::from_arg_matches(matches)?;
    let outputs = arguments.outputs()?;
    let lacks_pictures = !arguments.no_pictures && !settings.names_knowledge_host();
    let tools = build_caller_with_files(settings)?;
    let report = Report { arguments, tools, lacks_pictures };

    if outputs.is_empty() {
        let printed = report.print(&report.read_summary().await?);
        return Ok(status_after_output(ExitStatus::Success, printed));
    }

    report.write(&outputs, FailureOutput::from_matches(matches)).await
}

/// What the command asks for, and how to read it.
struct Report {
    arguments: ReportArguments,
    tools: CallerWithFiles,
    /// Whether the host of screenshots is not known.
    lacks_pictures: bool,
}

impl Report {
    fn project(&self) -> Option<&str> {
        self.arguments.project.project_id.as_deref()
    }

    async fn subject(&self) -> Result<ReportSubject, Failure> {
        let resolver = NameResolver::new(&self.tools.caller, self.project());
        let subject = match self.arguments.ids.as_slice() {
            [id] => resolver.found(id).await?.into(),
            ids => ReportSubject::of_jobs(resolver.several_jobs(ids).await?),
        };

        Ok(subject.beside(self.arguments.compare_with.as_deref(), self.arguments.history))
    }

    async fn gather(&self, outputs: &[Output]) -> Result<ReportData, Failure> {
        let has = |form| outputs.iter().any(|output| output.form == form);
        let pictures = match (self.arguments.no_pictures, has(ReportForm::Html)) {
            (true, _) => PictureForm::Absent,
            (false, true) => PictureForm::Embedded,
            (false, false) => PictureForm::Linked,
        };

        let (subject, project) = (self.subject().await?, self.project());
        let mut data = report::gather_data(&subject, &self.tools, project, pictures).await?;
        say_in_flags(&mut data.summary);

        Ok(data)
    }

    async fn read_summary(&self) -> Result<Summary, Failure> {
        let mut summary = self.subject().await?.summarize(&self.tools, self.project()).await?;
        say_in_flags(&mut summary);
        Ok(summary)
    }

    /// Writes the report. If a file cannot be written, prints the result instead, so that the result is not lost.
    async fn write(
        &self,
        outputs: &[Output],
        failure_output: FailureOutput,
    ) -> Result<ExitStatus, CommandError> {
        let data = self.gather(outputs).await?;
        let mut status = ExitStatus::Success;
        let mut failures = Vec::new();

        for Output { form, file } in outputs {
            let text = match form {
                ReportForm::Html => report::page_with_data(&data),
                ReportForm::Markdown => report::markdown(&data),
            };
            match file {
                None => status = status_after_output(status, print_text(text)),
                Some(file) => failures.extend(file.write(&text).err()),
            }
        }

        if failures.is_empty() {
            if self.lacks_pictures && !failure_output.is_json() {
                note(NO_SCREENSHOTS);
            }
            return Ok(status);
        }
        let printed = self.print(&data.summary);
        for failure in &failures {
            failure_output.print(failure);
        }

        Ok(status_after_output(ExitStatus::Rejected, printed))
    }

    fn print(&self, summary: &Summary) -> io::Result<()> {
        if self.arguments.output.json {
            return print_json(json!(summary));
        }
        let text = report::terminal_text(summary, &WallClock::of_this_machine());
        print_paragraphs(&self.arguments.length.cut(&visible(&text).replace('\r', "")))
    }
}

/// Names commands and flags in what the summary leaves out.
fn say_in_flags(summary: &mut Summary) {
    if let Some(left_out) = &mut summary.left_out {
        left_out.how.address(&CommandLine);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportForm {
    Html,
    Markdown,
}

#[derive(Debug)]
struct Output {
    form: ReportForm,
    /// `None`: standard output.
    file: Option<OutputFile>,
}

impl ReportArguments {
    /// Returns the outputs that the flags name; none if the result is only printed. Checks that the files can be written
    /// before any request is sent.
    fn outputs(&self) -> Result<Vec<Output>, Failure> {
        let flags =
            [("html", &self.html, ReportForm::Html), ("markdown", &self.markdown, ReportForm::Markdown)];
        let mut outputs = Vec::new();
        for (flag, path, form) in flags {
            let Some(path) = path else { continue };
            let file = path != Path::new(STANDARD_OUTPUT);
            let file = file.then(|| OutputFile::from_flag(flag, path)).transpose()?;
            outputs.push(Output { form, file });
        }

        if outputs.len() > 1 && outputs.iter().all(|output| output.file.is_none()) {
            let message = "`--html -` and `--markdown` both write to standard output";
            return Err(Failure::new(Code::InvalidArguments, message).hint("name a file for one of them"));
        }
        Ok(outputs)
    }
}
