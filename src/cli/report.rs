//! `tas-mcp report`: what came of a run, a job or a plan execution; with `--html` as a page to look at.

use std::{
    io::{IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde::Deserialize as _;
use serde_json::Value;

use super::{Exit, call, complain, new_file::NewFile};
use crate::{
    call::reply::Reply,
    failure::Failure,
    service::tool::PROJECT_ID,
    settings::Settings,
    tools::{
        dispatcher::Dispatcher,
        report::{self, Subject, Words},
        summary::Summary,
    },
};

/// Arguments of the command.
const ID: &str = "id";
const HTML: &str = "html";
const COMPARE_WITH: &str = "compare-with";
const RAW: &str = "raw";

/// File name that means standard output.
const STANDARD_OUTPUT: &str = "-";

/// The command.
pub fn command() -> Command {
    let about = "Tells what came of a run, a job or a plan execution; with --html as a page to look at";
    let html = Arg::new(HTML).long(HTML).value_name("FILE").value_parser(value_parser!(PathBuf));
    let compare_with = Arg::new(COMPARE_WITH).long(COMPARE_WITH).value_name("ID");
    let project = Arg::new(PROJECT_ID).long("project-id").value_name("ID");
    let raw = Arg::new(RAW).long(RAW).action(ArgAction::SetTrue);

    Command::new("report")
        .about(about)
        .after_help(Exit::HELP)
        .arg(Arg::new(ID).value_name("ID").required(true).help("Id of the run, job or execution"))
        .arg(html.help("One HTML file that loads nothing; `-` for standard output"))
        .arg(compare_with.help("What changed since: `previous`, or an earlier execution, job or run"))
        .arg(project.help("Project, where no id decides it and the settings name none"))
        .arg(raw.help("Compact JSON, also on a terminal"))
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let to_output = matches.get_one::<PathBuf>(HTML).is_some_and(|path| path == Path::new(STANDARD_OUTPUT));
    let file = match if to_output { Ok(None) } else { NewFile::open(matches, HTML) } {
        Ok(file) => file,
        Err(failure) => return Ok(complain(&failure)),
    };
    let asked = Asked {
        dispatcher: Dispatcher::new(settings.tools_config()),
        project: matches.get_one::<String>(PROJECT_ID).cloned(),
        id: matches.get_one::<String>(ID).cloned().unwrap_or_default(),
        compare_with: matches.get_one::<String>(COMPARE_WITH).cloned(),
    };

    if file.is_none() && !to_output {
        return match asked.summary().await {
            Ok(reply) => print(&reply, matches.get_flag(RAW)),
            Err(failure) => Ok(complain(&failure)),
        };
    }

    let gathered = match asked.gathered().await {
        Ok(gathered) => gathered,
        Err(failure) => return Ok(complain(&failure)),
    };
    let page = report::file(&gathered);
    let Some(file) = file else {
        anstream::stdout().write_all(page.as_bytes())?;
        return Ok(Exit::Done);
    };
    let Err(failure) = file.write(&page) else { return Ok(Exit::Done) };
    // What was asked for has come, and is not lost with the file.
    let told = match gathered.get("summary") {
        Some(summary) => Ok(Reply::from_value(summary.clone())),
        None => asked.summary().await,
    };
    let printed = match told {
        Ok(reply) => print(&reply, matches.get_flag(RAW)),
        Err(failure) => Ok(complain(&failure)),
    };

    complain(&failure);

    printed.map(|_| Exit::Refused)
}

/// Words for people at a terminal, JSON for everything else.
fn print(reply: &Reply, raw: bool) -> anyhow::Result<Exit> {
    if raw || !std::io::stdout().is_terminal() {
        return call::print(reply, raw);
    }
    write!(anstream::stdout(), "{}", Words(&Summary::deserialize(reply.value())?))?;
    Ok(Exit::Done)
}

/// What is asked for.
struct Asked {
    dispatcher: Dispatcher,
    project: Option<String>,
    id: String,
    compare_with: Option<String>,
}

impl Asked {
    async fn subject(&self) -> Result<Subject, Failure> {
        let subject = Subject::find(self.dispatcher.gateway(), self.project.as_deref(), &self.id).await?;
        Ok(subject.compared_with(self.compare_with.as_deref()))
    }

    async fn gathered(&self) -> Result<Value, Failure> {
        report::gather(&self.subject().await?, &self.dispatcher, self.project.as_deref()).await
    }

    async fn summary(&self) -> Result<Reply, Failure> {
        self.subject().await?.summary(&self.dispatcher, self.project.as_deref()).await
    }
}
