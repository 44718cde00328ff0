//! `tas-mcp runs`, `jobs`, `plans` and the other lists for users: the newest records as a table.

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Value, json};

use super::{
    calls::build_caller,
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    name_completion::complete_name,
    name_resolution::NameResolver,
    named_arguments,
    output::status_after_output,
    reply_output::ReplyOutput,
    tool_arguments::{self, ARGS, read_arguments},
};
use crate::{
    service::{
        api::{
            bugs::ListBugs,
            builds::ListBuilds,
            configs::ListDeploymentConfigs,
            executions::ListTestPlanExecutions,
            jobs::ListJobs,
            plans::ListTestPlans,
            runs::{ListRuns, NEWEST, Run},
            tests::{ALL_FOLDERS, ListTests},
        },
        catalog::{ListedOperation as _, OperationEntry},
        view::view,
    },
    settings::Settings,
    tools::newest::{WantedRecords, list_newest},
};

const LIMIT: &str = "limit";
const FAILED: &str = "failed";
const TEST: &str = "test";
const PLAN: &str = "plan";

/// Arguments of lists that the command fills in by itself.
const OWN_ARGUMENTS: [&str; 7] = ["page", "page_size", NEWEST, ALL_FOLDERS, "sort_by", "sort_order", ARGS];

/// A list command.
pub(super) struct ListCommand {
    /// Name of the command.
    word: &'static str,
    about: &'static str,
    list: fn() -> &'static OperationEntry,
    /// Whether a record has a verdict, so that the failed ones can be selected.
    has_verdict: bool,
    /// Flag for the name of another record that selects, and the argument of the list.
    name_flag: Option<(&'static str, &'static str)>,
}

impl ListCommand {
    /// Returns all list commands.
    pub(super) const fn all() -> [Self; 8] {
        const fn list(
            word: &'static str,
            about: &'static str,
            list: fn() -> &'static OperationEntry,
        ) -> ListCommand {
            ListCommand { word, about, list, has_verdict: false, name_flag: None }
        }
        const OF_TEST: Option<(&str, &str)> = Some((TEST, "multiplayer_test_id"));
        const OF_PLAN: Option<(&str, &str)> = Some((PLAN, "test_plan_id"));

        [
            Self {
                has_verdict: true,
                name_flag: OF_TEST,
                ..list("runs", "Lists the newest runs", ListRuns::entry)
            },
            Self {
                name_flag: OF_TEST,
                ..list("jobs", "Lists the newest jobs, also queued ones", ListJobs::entry)
            },
            Self {
                name_flag: OF_PLAN,
                ..list(
                    "executions",
                    "Lists the newest executions of test plans",
                    ListTestPlanExecutions::entry,
                )
            },
            list("plans", "Lists the test plans, the last changed first", ListTestPlans::entry),
            list("tests", "Lists the saved tests by name", ListTests::entry),
            list("builds", "Lists the newest builds", ListBuilds::entry),
            list(
                "devices",
                "Lists the deployment configs, the devices for runs, by name",
                ListDeploymentConfigs::entry,
            ),
            list("bugs", "Lists the newest reviewed bugs", ListBugs::entry),
        ]
    }

    /// Returns the list command with this name.
    pub(super) fn find(word: &str) -> Option<Self> {
        Self::all().into_iter().find(|command| command.word == word)
    }

    /// Returns the definition of the command. Its flags are built only when the command is used.
    pub(super) fn command(self) -> Command {
        let command = Command::new(self.word)
            .about(self.about)
            .after_help(help_end(&[format!("tas-mcp {} --limit 3", self.word)], ExitStatus::HELP));
        command.defer(|command| match Self::find(command.get_name()) {
            Some(list) => list.with_flags(command),
            None => command,
        })
    }

    fn with_flags(self, command: Command) -> Command {
        let tool = tool_arguments::command(&(self.list)().tool);
        let is_shown = |flag: &&Arg| !OWN_ARGUMENTS.contains(&flag.get_id().as_str());
        let flags: Vec<_> = tool.get_arguments().filter(is_shown).cloned().collect();

        let limit = Arg::new(LIMIT).long(LIMIT).value_name("N").default_value("20");
        let failed = Arg::new(FAILED).long(FAILED).action(ArgAction::SetTrue);
        let name = self.name_flag.map(|(flag, argument)| {
            let help = format!("Only those of this {flag}: its name or id");
            complete_name(Arg::new(flag).long(flag).value_name("NAME").help(help), argument)
        });

        command
            .arg(limit.value_parser(value_parser!(u64).range(1..=5_000)).help("Number of records, 1-5000"))
            .args(self.has_verdict.then(|| failed.help("Only completed runs that did not pass")))
            .args(name)
            .args(flags)
    }

    /// Prints the newest records.
    pub(super) async fn run(
        self,
        matches: &ArgMatches,
        settings: &Settings,
    ) -> Result<ExitStatus, CommandError> {
        let list = (self.list)();
        let mut arguments = read_arguments(&list.tool, matches)?;
        let caller = build_caller(settings)?;

        if let Some((flag, argument)) = self.name_flag
            && let Some(name) = matches.get_one::<String>(flag)
        {
            arguments.own.insert(argument.to_owned(), json!(name));
        }
        let project = arguments.common.project_id.clone();
        let resolver = NameResolver::new(&caller, project.as_deref());
        named_arguments::resolve(resolver, &list.tool, &mut arguments.own).await?;

        let only_failed = self.has_verdict && matches.get_flag(FAILED);
        let limit = matches.get_one::<u64>(LIMIT).context("the limit is missing")?;
        let wanted = WantedRecords {
            filter: if only_failed { has_failed } else { |_| true },
            limit: usize::try_from(*limit).unwrap_or(usize::MAX),
        };
        let reply = list_newest(&caller, list, arguments, wanted).await?;
        let printed = ReplyOutput::new(&list.tool, matches).print(&reply)?;

        Ok(status_after_output(ExitStatus::Success, printed))
    }
}

/// Returns whether a run is completed without a pass.
fn has_failed(run: &Value) -> bool {
    view::<Run>(run).head.result.is_some_and(|result| !result.eq_ignore_ascii_case("SUCCESS"))
}
