//! `tas-mcp runs`, `jobs`, `plans` and the other lists for users: the newest records as a table.

use std::{collections::BTreeMap, io::Write as _, time::Duration};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches as _, parser::ValueSource, value_parser};
use serde_json::{Value, json};

use crate::{
    call::{Caller, Reply},
    cli::{
        calls::build_caller,
        exit_status::{CommandError, ExitStatus},
        filters::{self, FilterFlags, Filters},
        help::help_end,
        name_resolution::NameResolver,
        named_arguments,
        output::{Output, OutputFlags, note},
        records::{RecordPrinter, records},
        tool_arguments::{self, ARGS, ProjectFlag, read_arguments},
    },
    failure::{Code, Failure},
    service::{
        api::{
            bugs::ListBugs,
            builds::ListBuilds,
            configs::ListDeploymentConfigs,
            jobs::ListJobs,
            jobs::ListTestPlanExecutions,
            plans::ListTestPlans,
            runs::{DEVICE, ListRuns, NEWEST},
            tests::{ALL_FOLDERS, ListTests},
        },
        catalog::{ListedOperation as _, OperationEntry},
        operation::Operation as _,
        tool::PROJECT_ID,
    },
    settings::Settings,
    tools::newest::read_newest,
};

/// Arguments of lists that the command fills in by itself.
const OWN_ARGUMENTS: [&str; 8] =
    ["page", "page_size", NEWEST, ALL_FOLDERS, "sort_by", "sort_order", ARGS, PROJECT_ID];

const WATCH_INTERVAL: Duration = Duration::from_secs(5);

pub(super) struct ListCommand {
    word: &'static str,
    about: &'static str,
    list: fn() -> &'static OperationEntry,
    /// The filters that apply to the records.
    filters: &'static [&'static str],
    example: &'static str,
}

#[derive(Args)]
struct ListArguments {
    #[command(flatten)]
    filters: FilterFlags,

    #[arg(long, value_name = "N", default_value = "20", value_parser = value_parser!(u16).range(1..=5_000))]
    #[arg(help = "Number of records, 1-5000")]
    limit: u16,

    #[arg(short, long, help = "Read the list every 5 seconds, until Ctrl-C; a pipe gets what has changed")]
    watch: bool,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    project: ProjectFlag,
}

impl ListCommand {
    pub(super) const fn all() -> [Self; 8] {
        const fn list(
            [word, about, example]: [&'static str; 3],
            list: fn() -> &'static OperationEntry,
            filters: &'static [&'static str],
        ) -> ListCommand {
            ListCommand { word, about, list, filters, example }
        }

        [
            list(
                ["runs", "Lists the newest runs", "tas-mcp runs --failed --since 24h"],
                ListRuns::entry,
                filters::OF_RUNS,
            ),
            list(
                [
                    "jobs",
                    "Lists the newest jobs, also queued ones",
                    "tas-mcp jobs --failed --plan \"Release smoke\"",
                ],
                ListJobs::entry,
                filters::OF_JOBS,
            ),
            list(
                ["executions", "Lists the newest executions of test plans", "tas-mcp executions --since 7d"],
                ListTestPlanExecutions::entry,
                filters::OF_EXECUTIONS,
            ),
            list(
                ["plans", "Lists the test plans, the last changed first", "tas-mcp plans --limit 3"],
                ListTestPlans::entry,
                filters::OF_NAMED,
            ),
            list(
                ["tests", "Lists the saved tests by name", "tas-mcp tests --search menu"],
                ListTests::entry,
                filters::OF_NAMED,
            ),
            list(
                ["builds", "Lists the newest builds", "tas-mcp builds --search nightly --limit 3"],
                ListBuilds::entry,
                filters::OF_DATED,
            ),
            list(
                ["devices", "Lists the devices for runs, by name", "tas-mcp devices --csv"],
                ListDeploymentConfigs::entry,
                filters::OF_NAMED,
            ),
            list(
                ["bugs", "Lists the newest reviewed bugs", "tas-mcp bugs --severity critical"],
                ListBugs::entry,
                filters::OF_DATED,
            ),
        ]
    }

    pub(super) fn find(word: &str) -> Option<Self> {
        Self::all().into_iter().find(|command| command.word == word)
    }

    /// Returns the definition of the command. Its flags are built only when the command is used.
    pub(super) fn command(self) -> Command {
        let examples = [self.example.to_owned(), format!("tas-mcp {} --json", self.word)];
        let command =
            Command::new(self.word).about(self.about).after_help(help_end(&examples, ExitStatus::HELP));
        command.defer(|command| match Self::find(command.get_name()) {
            Some(list) => list.with_flags(command),
            None => command,
        })
    }

    fn with_flags(self, command: Command) -> Command {
        let command = ListArguments::augment_args(command);
        let own: Vec<_> = command.get_arguments().map(|flag| flag.get_id().clone()).collect();
        let is_shown =
            |flag: &&Arg| !OWN_ARGUMENTS.contains(&flag.get_id().as_str()) && !own.contains(flag.get_id());
        let tool = tool_arguments::command(&(self.list)().tool);
        let flags: Vec<_> = tool.get_arguments().filter(is_shown).cloned().collect();

        let is_missing = |flag: &&str| !self.filters.contains(flag);
        let missing = filters::ALL.into_iter().filter(is_missing);
        missing.fold(command.args(flags), |command, flag| command.mut_arg(flag, |flag| flag.hide(true)))
    }

    /// Refuses filters that do not apply to the records. They are defined, so that the refusal can name those that do.
    fn check_filters(&self, matches: &ArgMatches) -> Result<(), Failure> {
        let is_given = |flag: &&str| matches.value_source(flag) == Some(ValueSource::CommandLine);
        let mut others = filters::ALL.into_iter().filter(|flag| !self.filters.contains(flag));
        let Some(flag) = others.find(is_given) else { return Ok(()) };

        let others: Vec<_> = self.filters.iter().map(|flag| format!("`--{flag}`")).collect();
        let message = format!("`--{flag}` does not apply to {}", self.word);
        Err(Failure::new(Code::InvalidArguments, message).hint(format!("{} can be used", others.join(", "))))
    }

    pub(super) async fn run(
        self,
        matches: &ArgMatches,
        settings: &Settings,
    ) -> Result<ExitStatus, CommandError> {
        self.check_filters(matches)?;
        let arguments = ListArguments::from_arg_matches(matches)?;
        let output = Output::from(arguments.output);
        let reading = Reading { list: (self.list)(), matches, caller: build_caller(settings)? };
        let printer = RecordPrinter::new(&reading.list.tool, matches, &output);
        if arguments.watch {
            return watch(&reading, &arguments, &printer).await;
        }

        let (reply, unmatched) = reading.read(&arguments).await?;
        let status = printer.print(&reading.caller, reply.value()).await?;
        if output.has_rows() {
            for sentence in &unmatched {
                note(sentence);
            }
        }

        Ok(status)
    }
}

struct Reading<'a> {
    list: &'static OperationEntry,
    matches: &'a ArgMatches,
    caller: Caller,
}

impl Reading<'_> {
    /// Returns the records, and what of the filters no record has.
    async fn read(&self, flags: &ListArguments) -> Result<(Reply, Vec<String>), CommandError> {
        let mut arguments = read_arguments(&self.list.tool, self.matches)?;
        // The flag of this name selects among all records.
        arguments.own.shift_remove(DEVICE);
        let project = arguments.common.project_id.clone();
        let resolver = NameResolver::new(&self.caller, project.as_deref());

        // The service has these filters itself.
        let FilterFlags { test, plan, bugs, .. } = &flags.filters;
        let plan = plan.as_ref().filter(|_| self.list.name == ListTestPlanExecutions::NAME);
        let own = [
            ("multiplayer_test_id", test.as_ref().map(|name| json!(name))),
            ("test_plan_id", plan.map(|name| json!(name))),
            ("bugs", bugs.map(|bugs| json!(bugs))),
        ];
        let own = own.into_iter().filter_map(|(argument, value)| Some((argument.to_owned(), value?)));
        arguments.own.extend(own);
        named_arguments::resolve(resolver, &self.list.tool, &mut arguments.own).await?;

        let filters = Filters::read(&flags.filters, self.list, resolver).await?;
        let selection = arguments.selection.clone();
        let mut records = read_newest(&self.caller, self.list, arguments).await?;
        let unmatched = filters.choose(&mut records, flags.limit.into());

        Ok((Reply::from_value(json!(records)).with_fields(selection.as_ref()), unmatched))
    }

    /// Reads the records after a pause, until the service answers.
    async fn read_again(&self, flags: &ListArguments) -> Result<Reply, CommandError> {
        loop {
            tokio::time::sleep(WATCH_INTERVAL).await;
            match self.read(flags).await {
                Err(CommandError::Failures(failures)) => {
                    for failure in &failures {
                        note(&format!("not read: {}", failure.message));
                    }
                }
                read => return read.map(|(reply, _)| reply),
            }
        }
    }
}

/// Prints the records every few seconds, until a signal ends the process: on a terminal in place of the earlier ones, elsewhere
/// what is new or has changed. A failure after the first reading passes: the service may be away for a while.
async fn watch(
    reading: &Reading<'_>,
    arguments: &ListArguments,
    printer: &RecordPrinter<'_>,
) -> Result<ExitStatus, CommandError> {
    let mut known = BTreeMap::new();
    let (mut reply, _) = reading.read(arguments).await?;
    loop {
        if printer.redraws() {
            printer.draw(&reading.caller, reply.value()).await?;
        } else {
            let is_new = |record: &&Value| {
                known.insert(printer.id(record), (*record).clone()).as_ref() != Some(*record)
            };
            let changed: Vec<_> = records(reply.value()).iter().filter(is_new).cloned().collect();

            for record in changed.into_iter().rev() {
                let status = printer.print(&reading.caller, &json!({"data": [record]})).await?;
                if status != ExitStatus::Success || std::io::stdout().flush().is_err() {
                    return Ok(status);
                }
            }
        }

        reply = reading.read_again(arguments).await?;
    }
}
