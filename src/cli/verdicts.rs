//! The end of a wait on the command line: a table of verdicts, a JUnit file, and the exit code.

use std::{
    io::{IsTerminal as _, Write as _},
    path::PathBuf,
};

use clap::{Arg, ArgMatches, value_parser};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::{Exit, complain, new_file::NewFile, table::Table};
use crate::{
    call::gateway::Gateway,
    failure::Failure,
    service::api::{Id, runs::GetRun},
    tools::{
        project_client::ProjectClient,
        waiting::{
            Completion, Item, Status,
            junit::{self, Case},
        },
    },
};

/// Flag that names the JUnit file.
const JUNIT: &str = "junit";

/// Most runs that are read at once.
const AT_ONCE: usize = 8;

/// The flag.
pub(super) fn flag() -> Arg {
    let flag = Arg::new(JUNIT).long(JUNIT).value_name("FILE").value_parser(value_parser!(PathBuf));
    flag.help("JUnit XML of the verdicts, for CI")
}

/// The file that the flag names.
pub(super) fn report(matches: &ArgMatches) -> Result<Option<NewFile>, Failure> {
    NewFile::open(matches, JUNIT)
}

/// What came of a start or a wait.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) completion: Completion,
    /// The answer of the start, where there was one.
    pub(super) started: Option<Value>,
    /// Devices on which nothing was started, and why.
    pub(super) not_started: Vec<(String, String)>,
}

impl Ending {
    /// Prints and writes everything; says how it ended. A file that cannot be written takes no verdict away.
    pub(super) async fn told(
        self,
        gateway: &Gateway,
        project: Option<&str>,
        report: Option<NewFile>,
        raw: bool,
    ) -> anyhow::Result<Exit> {
        let printed = self.print(raw);
        let written = match report {
            Some(report) => report.write(&self.junit(gateway, project).await?),
            None => Ok(()),
        };
        // Who reads our output may have enough of it; the file is written all the same.
        printed?;

        Ok(match written.map_err(|failure| complain(&failure)) {
            Err(_) if self.exit() == Exit::Done => Exit::Refused,
            _ => self.exit(),
        })
    }

    fn print(&self, raw: bool) -> anyhow::Result<()> {
        let mut output = anstream::stdout();
        if raw || !std::io::stdout().is_terminal() {
            let mut value = json!(self.completion);
            if let (Some(started), Value::Object(fields)) = (&self.started, &mut value) {
                fields.insert("started".to_owned(), started.clone());
            }
            writeln!(output, "{value}")?;
            // The log of a CI job shows standard error too.
            write!(anstream::stderr(), "{}", self.table())?;
        } else {
            write!(output, "{}", self.table())?;
        }

        Ok(())
    }

    /// 0 only if everything that was asked for is over and has passed.
    fn exit(&self) -> Exit {
        if self.completion.status == Status::TimedOut {
            Exit::TimedOut
        } else if self.completion.all_passed && self.not_started.is_empty() {
            Exit::Done
        } else {
            Exit::NotPassed
        }
    }

    fn table(&self) -> String {
        let mut table = Table::new(["verdict", "test", "platform", "run", "attempts", "reason"]);
        for item in &self.completion.items {
            let status = item.status.clone().unwrap_or_default();
            let attempts = item.attempts.map(|attempts| attempts.to_string());
            table.row([
                item.verdict().unwrap_or(status),
                item.name().to_owned(),
                item.platform.clone().unwrap_or_default(),
                item.run_id.clone().unwrap_or_default(),
                attempts.unwrap_or_default(),
                item.reason.clone().unwrap_or_default(),
            ]);
        }

        for (device, why) in &self.not_started {
            let [none, run, attempts] = [(); 3].map(|()| String::new());
            table.row(["not started".to_owned(), none, device.clone(), run, attempts, why.clone()]);
        }

        for why in self.not_read() {
            let [test, platform, run, attempts] = [(); 4].map(|()| String::new());
            table.row(["not read".to_owned(), test, platform, run, attempts, why]);
        }

        let passed = self.completion.verdicts.get("SUCCESS").unwrap_or(&0);
        let total = self.completion.total + self.not_started.len();
        let why = self.completion.to_explain().map(|(_, id)| format!("why: tas-mcp report {id}\n"));

        format!("{table}{passed} of {total} passed\n{}", why.unwrap_or_default())
    }

    /// Why there are tests that no item stands for.
    fn not_read(&self) -> Vec<String> {
        let unread = self.completion.unread.iter();
        unread.map(|unread| format!("{}: {}", unread.what, unread.why)).collect()
    }

    async fn junit(&self, gateway: &Gateway, project: Option<&str>) -> anyhow::Result<String> {
        let plan = junit::plan_name(&self.completion);
        let counter = ProjectClient { gateway: gateway.clone(), project: project.map(str::to_owned) };
        let read = |item: Item| {
            let counter = counter.clone();
            async move { run_of(&counter, &item).await }
        };
        let items = &self.completion.items;
        let runs: Vec<_> = stream::iter(items.clone()).map(read).buffered(AT_ONCE).collect().await;
        let mut cases: Vec<_> =
            items.iter().zip(&runs).map(|(item, run)| Case::new(item, run.as_ref(), &plan)).collect();
        let failed = self.not_started.iter().map(|(device, why)| Case::not_started(device, why, &plan));

        cases.extend(failed);
        cases.extend(self.not_read().iter().map(|why| Case::not_read(why, &plan)));

        Ok(junit::document(&plan, &cases)?)
    }
}

/// The run of an item; a report without its steps is better than none.
async fn run_of(counter: &ProjectClient, item: &Item) -> Option<Value> {
    let run = counter.call(&GetRun { run_id: Id(item.run_id.clone()?) }).await;
    let read = run.inspect_err(|failure| tracing::warn!("the report lacks the steps of a run: {failure}"));
    read.ok().map(|reply| reply.value().clone())
}
