//! `tas-mcp report`: summarizes a run, a job or a plan execution, or shows the trend of a plan; with `--html` as a
//! page.

use std::{
    ffi::OsStr,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use clap::{ArgMatches, Args, Command, FromArgMatches as _, value_parser};
use serde_json::json;
use tokio::process;

use super::{
    calls::build_caller_with_files,
    exit_status::{CommandError, ExitStatus},
    failure_output::OutputFormat,
    file_flags::{OutputFile, path_value},
    help::help_end,
    name_completion::{NameKind, name_completions},
    name_resolution::NameResolver,
    output::{JsonFlag, note, note_written, print_line, print_text, prints_json, status_after_output},
    starts::Starts,
    tool_arguments::ProjectFlag,
};
use crate::{
    failure::{Code, Failure},
    settings::Settings,
    tools::{
        context::CallerWithFiles,
        name_search::RecordKind,
        report::{self, ReportData, ReportSubject, SummaryText, TrendText},
        summary::{Summary, Trend},
    },
};

const EXAMPLES: [&str; 4] = [
    "tas-mcp report latest",
    r#"tas-mcp report "Release smoke" --compare-with previous"#,
    r#"tas-mcp report "Release smoke" --trend 10"#,
    r#"tas-mcp report "Pause and resume" --html report.html"#,
];

/// File name that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Time in which a launcher that fails has ended. Some launchers run as long as the browser.
const LAUNCH_TIME: Duration = Duration::from_secs(3);

/// The program that opens a file, and its arguments before the path.
const LAUNCHER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else if cfg!(windows) {
    // `start` of the command interpreter would interpret characters of the path.
    ("rundll32.exe", &["url.dll,FileProtocolHandler"])
} else {
    ("xdg-open", &[])
};

#[derive(Args)]
struct ReportArguments {
    /// Id of a run, a job or an execution; or the name of a test or a plan: its latest result; or `latest`. With --trend
    /// the plan, or one of its executions
    #[arg(add = name_completions(NameKind::AnyResult))]
    id: String,

    /// Write one HTML file that loads nothing, with screenshots; `-` for standard output
    #[arg(long, value_name = "FILE", value_parser = path_value())]
    html: Option<PathBuf>,

    /// Open the page in the browser; without --html it is a temporary file
    #[arg(long)]
    open: bool,

    /// Leave the screenshots out of the page
    #[arg(long)]
    no_pictures: bool,

    /// Show the changes since `previous`, or since an earlier execution, job or run
    #[arg(long, value_name = "ID")]
    compare_with: Option<String>,

    /// Show the last N executions of the plan, test by test; 2 to 20
    #[arg(long, value_name = "N", conflicts_with = "compare_with", value_parser = value_parser!(u8).range(2..=20))]
    trend: Option<u8>,

    #[command(flatten)]
    project: ProjectFlag,

    #[command(flatten)]
    output: JsonFlag,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("report")
        .about("Summarizes a run, a job or a plan execution, or shows the trend of a plan; with --html as a page")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP));

    ReportArguments::augment_args(command)
}

/// Prints the summary or the trend, or writes the page.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = ReportArguments::from_arg_matches(matches)?;
    let target = arguments.target()?;
    let report =
        Report { tools: build_caller_with_files(settings)?, starts: Starts::read(settings), arguments };

    match target {
        ReportTarget::File(file) => report.write_page(&file, OutputFormat::from_matches(matches)).await,
        ReportTarget::StandardOutput => {
            let page = report::page_with_data(&json!(report.gather().await?));
            Ok(status_after_output(ExitStatus::Success, print_text(page)))
        }
        ReportTarget::Text => {
            let printed = report.print(&report.read_result().await?);
            Ok(status_after_output(ExitStatus::Success, printed))
        }
    }
}

/// What the command asks for, and how to read it.
struct Report {
    arguments: ReportArguments,
    tools: CallerWithFiles,
    starts: Starts,
}

/// A result that is printed.
enum PrintedResult {
    Summary(Box<Summary>),
    Trend(Trend),
}

impl Report {
    fn project(&self) -> Option<&str> {
        self.arguments.project.project_id.as_deref()
    }

    async fn subject(&self) -> Result<ReportSubject, Failure> {
        let resolver = NameResolver::new(&self.tools.caller, self.project()).for_user(&self.starts);
        let subject = resolver.subject(&self.arguments.id).await?;

        Ok(subject.compared_with(self.arguments.compare_with.as_deref()))
    }

    /// Returns the data of the page.
    async fn gather(&self) -> Result<ReportData, Failure> {
        if let Some(count) = self.arguments.trend {
            return Ok(self.read_trend(count).await?.into());
        }

        let (subject, project) = (self.subject().await?, self.project());
        report::gather_data(&subject, &self.tools, project, !self.arguments.no_pictures).await
    }

    async fn read_trend(&self, count: u8) -> Result<Trend, Failure> {
        let (caller, project) = (&self.tools.caller, self.project());
        // The id of a plan or of an execution is a UUID, and stays as it is.
        let plan = NameResolver::new(caller, project).id(RecordKind::TestPlan, &self.arguments.id).await?;

        report::read_trend(caller, project, &plan, count.into()).await
    }

    /// Returns the summary or the trend.
    async fn read_result(&self) -> Result<PrintedResult, Failure> {
        if let Some(count) = self.arguments.trend {
            return Ok(PrintedResult::Trend(self.read_trend(count).await?));
        }

        let summary = self.subject().await?.summarize(&self.tools, self.project()).await?;
        Ok(PrintedResult::Summary(Box::new(summary)))
    }

    /// Writes the page. If the file cannot be written, prints the result instead, so that the result is not lost.
    async fn write_page(&self, file: &PageFile, format: OutputFormat) -> Result<ExitStatus, CommandError> {
        let data = self.gather().await?;
        let failure = match file.write(&report::page_with_data(&json!(data))) {
            Ok(path) => {
                if self.arguments.open {
                    open(&path).await;
                }
                return Ok(ExitStatus::Success);
            }
            Err(failure) => failure,
        };

        let result = match (data.summary, data.trend) {
            (Some(summary), _) => Ok(PrintedResult::Summary(Box::new(summary))),
            (None, Some(trend)) => Ok(PrintedResult::Trend(trend)),
            (None, None) => self.read_result().await,
        };
        let printed = match result {
            Ok(result) => self.print(&result),
            Err(failure) => {
                format.print(&failure);
                Ok(())
            }
        };
        format.print(&failure);

        Ok(status_after_output(ExitStatus::Rejected, printed))
    }

    /// Prints a result as text on a terminal, otherwise as JSON.
    fn print(&self, result: &PrintedResult) -> io::Result<()> {
        let prints_json = prints_json(self.arguments.output.json);
        match result {
            PrintedResult::Summary(summary) if prints_json => print_line(json!(summary)),
            PrintedResult::Summary(summary) => print_text(SummaryText(summary)),
            PrintedResult::Trend(trend) if prints_json => print_line(json!(trend)),
            // The text contains no characters of the service that could control the terminal, but colours.
            PrintedResult::Trend(trend) => write!(anstream::stdout(), "{}", TrendText(trend)),
        }
    }
}

/// Where the result goes.
#[derive(Debug)]
enum ReportTarget {
    /// The summary is printed.
    Text,
    /// The page is printed.
    StandardOutput,
    /// The page is written to a file.
    File(PageFile),
}

/// The file of a page.
#[derive(Debug)]
enum PageFile {
    /// The file of the flag `--html`.
    Named(PathBuf, OutputFile),
    /// A new file in the directory for temporary files.
    Temporary,
}

impl ReportArguments {
    /// Returns the target that the flags name. Checks that the file can be written before any request is sent.
    ///
    /// # Errors
    /// `file_error` with the reason why the file cannot be written; `invalid_arguments` for a page that is to be opened
    /// but goes to standard output.
    fn target(&self) -> Result<ReportTarget, Failure> {
        match &self.html {
            None if self.open => Ok(ReportTarget::File(PageFile::Temporary)),
            None => Ok(ReportTarget::Text),
            Some(path) if path != Path::new(STANDARD_OUTPUT) => {
                let file = OutputFile::from_flag("html", path)?;
                Ok(ReportTarget::File(PageFile::Named(path.clone(), file)))
            }
            Some(_) if self.open => {
                let message = "`--open` needs a file, but `--html -` writes to standard output";
                Err(Failure::new(Code::InvalidArguments, message)
                    .hint("leave out `--html`: the page is then written to a temporary file"))
            }
            Some(_) => Ok(ReportTarget::StandardOutput),
        }
    }
}

impl PageFile {
    /// Writes the page, and returns the path of its file, which is also printed on standard error.
    ///
    /// # Errors
    /// `file_error` with the reason.
    fn write(&self, page: &str) -> Result<PathBuf, Failure> {
        let path = match self {
            Self::Named(path, file) => {
                file.write(page)?;
                path.clone()
            }
            Self::Temporary => {
                let path = write_temporary_file(page)?;
                note_written(&path);
                path
            }
        };

        Ok(path)
    }
}

/// Writes the page to a new file that only its owner can read.
fn write_temporary_file(page: &str) -> Result<PathBuf, Failure> {
    let write = || {
        let mut file = tempfile::Builder::new().prefix("tas-mcp-report-").suffix(".html").tempfile()?;
        file.write_all(page.as_bytes())?;
        file.keep().map(|(_, path)| path).map_err(|error| error.error)
    };

    write().map_err(|error| {
        let message = format!("the temporary file for `--open` cannot be written: {error}");
        Failure::new(Code::FileError, message).hint("name a file with `--html`")
    })
}

/// Opens a page in the browser. If there is no browser, says which file to open.
async fn open(path: &Path) {
    if let Err(error) = launch_browser(path).await {
        let path = path.display();
        note(&format!("no browser could be started ({error}): open {path} in a browser"));
    }
}

/// Starts the launcher of the platform.
///
/// # Errors
/// The launcher cannot be started or fails at once.
async fn launch_browser(path: &Path) -> io::Result<()> {
    let (program, arguments) = LAUNCHER;
    let mut command = process::Command::new(program);
    command.args(arguments.iter().map(OsStr::new).chain([path.as_os_str()]));
    // A browser in the terminal would replace what it shows.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());

    let mut launcher = command.spawn()?;
    match tokio::time::timeout(LAUNCH_TIME, launcher.wait()).await {
        Ok(status) if status.as_ref().is_ok_and(std::process::ExitStatus::success) => Ok(()),
        Ok(status) => {
            Err(status.err().unwrap_or_else(|| io::Error::other(format!("`{program}` has failed"))))
        }
        // The launcher is still running, so that it has found a browser.
        Err(_) => Ok(()),
    }
}
