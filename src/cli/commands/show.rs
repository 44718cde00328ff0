//! `tas-mcp show`: one record of any kind for people, with the names of what it refers to.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde_json::{Value, json};

use super::completions::result_names;
use crate::{
    cli::{
        calls::build_caller,
        columns::{
            Context, age, ago, devices_of, duration, duration_of, execution_verdict, record_table, size,
            verdict, verdict_style,
        },
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        name_resolution::{NameResolver, choice},
        next_command::next_command,
        output::{JsonFlag, Output, terminal_width},
        table::{Cell, Fit, Table},
        tool_arguments::ProjectFlag,
    },
    service::{
        api::{
            bugs::{BugDetail, RunBug},
            builds::BuildDetail,
            configs::DeploymentConfig,
            executions::{ListTestPlanExecutions, TestPlanExecution},
            jobs::{Job, ListJobs},
            plans::TestPlan,
            runs::{ListRuns, RunDetail, RunHead, RunStep},
            steps::StepBody,
            tests::{TestCase, TestItem},
        },
        lenient::view,
        operation::Operation as _,
    },
    settings::Settings,
    text::single_line,
    tools::{
        describe::{DescribedRecord, NamedId, Record},
        names::initiator_name,
        waiting::ResultItem,
    },
};

const EXAMPLES: [&str; 3] =
    ["tas-mcp show latest", r#"tas-mcp show "Release smoke""#, "tas-mcp show EXECUTION_ID"];

#[derive(Args)]
struct ShowArguments {
    /// Id, beginning of an id or name of a run, job, execution, test, plan, build, device or bug; or `latest`
    #[arg(value_name = "ID", add = result_names())]
    id: String,

    #[command(flatten)]
    output: JsonFlag,

    #[command(flatten)]
    project: ProjectFlag,
}

pub(super) fn command() -> Command {
    let command = Command::new("show")
        .about("Shows a run, job, execution, test, plan, build, device or bug")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP));

    ShowArguments::augment_args(command)
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = ShowArguments::from_arg_matches(matches)?;
    let output = Output::from(&arguments.output);
    let caller = build_caller(settings)?;
    let project = arguments.project.project_id.as_deref();
    let resolver = NameResolver::new(&caller, project);
    let subject = resolver.any(&arguments.id).await?;
    let described = DescribedRecord::read(&resolver.reader(), subject).await?;

    output.print(ExitStatus::Success, &described, || Page::default().describe(&described, settings))
}

#[derive(Default)]
struct Page {
    text: String,
    context: Context,
}

impl Page {
    fn describe(mut self, described: &DescribedRecord, settings: &Settings) -> String {
        match &described.record {
            Record::Run { run, bugs } => self.run(&view(run), bugs, settings),
            Record::Job { job, build_name, execution } => {
                self.job(&view(job), build_name.as_deref(), execution.as_ref().map(view));
            }
            Record::TestPlanExecution { test_plan_execution, jobs } => {
                self.execution(&view(test_plan_execution), jobs, settings);
            }
            Record::Test { test, folder_path, plans, latest_runs } => {
                self.test(&view(test), folder_path.as_deref(), plans);
                self.list("latest runs", ListRuns::NAME, latest_runs);
            }
            Record::TestPlan { test_plan, test_names, latest_executions } => {
                self.plan(&view(test_plan), |id| test_names.get(id).cloned());
                self.list("latest executions", ListTestPlanExecutions::NAME, latest_executions);
            }
            Record::Build { build, latest_runs } => {
                self.build(&view(build));
                self.list("latest runs", ListRuns::NAME, latest_runs);
            }
            Record::Device { device } => self.device(&view(device)),
            Record::Bug { bug, runs } => self.bug(view(bug), |id| runs.get(id).map(view)),
        }

        for record in &described.same_name {
            self.line(&format!("same name: {}", choice(record)));
        }
        for omission in &described.unread {
            self.line(&format!("not read: {}: {}", omission.what, omission.why));
        }
        self.text
    }

    fn device(&mut self, device: &DeploymentConfig) {
        self.title("device", &device.name, "");
        self.field("platform", device.kind.as_deref().unwrap_or_default());
        self.field("build source", device.provider_type.as_deref().unwrap_or_default());
        self.field("description", device.description.as_deref().unwrap_or_default());
        self.field("id", &device.id);
    }

    fn line(&mut self, line: &str) {
        self.text += &(single_line(line) + "\n");
    }

    fn title(&mut self, kind: &str, name: &str, state: &str) {
        let style = verdict_style(state);
        let (name, state) = (single_line(name), single_line(state));
        let title = format!("{kind}  {name}  {}{state}{}", style.render(), style.render_reset());
        self.text += &(title.trim_end().to_owned() + "\n");
    }

    fn field(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.text.extend(["  ", name, ": ", &single_line(value), "\n"]);
        }
    }

    fn paragraph(&mut self, heading: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.line("");
        self.line(heading);
        for line in text.lines().map(single_line) {
            self.text.extend(["  ", &line, "\n"]);
        }
    }

    fn table(&mut self, heading: &str, table: Table) {
        if table.is_empty() {
            return;
        }
        self.line("");
        self.line(heading);
        self.text += &table.fit(terminal_width()).to_string();
    }

    fn list(&mut self, heading: &str, list: &str, records: &[Value]) {
        if let Some(table) = record_table(list, records, &self.context) {
            self.table(heading, table);
        }
    }

    fn next(&mut self, settings: &Settings, words: &[&str]) {
        if let Some(command) = next_command(settings, words) {
            self.line(&format!("more: {command}"));
        }
    }

    fn times(&mut self, began: &str, took: &Cell, by: Option<String>) {
        let ago = ago(began, &self.context);
        let took = Some(took.text()).filter(|took| !took.is_empty()).map(|took| format!(", took {took}"));
        let by = by.map(|by| format!(", by {by}"));
        self.field("started", &format!("{ago}{}{}", took.unwrap_or_default(), by.unwrap_or_default()));
    }

    fn head(&mut self, run: &RunHead) {
        let build =
            run.build.as_ref().map(|build| named(build.name.as_deref(), &build.id)).unwrap_or_default();
        self.field("build", &build);
        let by = run.initiator.as_ref().and_then(initiator_name);
        self.times(&run.created_at, &duration_of(run, self.context.now), by);
        self.field("tags", &run.tags.join(", "));
    }

    fn run(&mut self, run: &RunDetail, bugs: &[Value], settings: &Settings) {
        let head = &run.head;
        self.title("run", &head.test.name, head.result.as_deref().unwrap_or(&head.state));
        self.field("id", &head.multiplayer_run_id);
        self.field("device", &devices_of(run.players.iter().map(|player| &player.player)));
        self.head(head);
        self.field("job", &head.job_id);
        let files =
            run.players.iter().filter_map(|player| player.artifacts.as_ref()).map(Vec::len).sum::<usize>();
        self.field("files", &files.to_string());

        for (index, player) in run.players.iter().enumerate() {
            let number = player.player.player_number.unwrap_or(index + 1);
            let heading =
                if run.players.len() > 1 { format!("steps of player {number}") } else { "steps".to_owned() };
            self.table(&heading, self.steps(&player.steps));
        }

        let mut table = Table::new(["severity", "bug", "id"]).fitting([2], Fit::Whole);
        for bug in bugs.iter().map(view::<RunBug>) {
            table.add_row([bug.severity.as_str(), &bug.title, &bug.bug_id]);
        }
        self.table("bugs", table);
        self.next(settings, &["report", &head.multiplayer_run_id]);
    }

    fn steps(&self, steps: &[RunStep]) -> Table {
        let mut table = Table::new(["step", "verdict", "took", "goal"]).fitting(0..3, Fit::Whole);
        for (index, step) in steps.iter().enumerate() {
            let number = step.step_number.unwrap_or(index + 1).to_string();
            let state = step.run_result.as_deref().unwrap_or(&step.run_state);
            let took = duration(step.duration_ms, None, None, self.context.now);
            let goal = step.test.goal.clone().unwrap_or_default();
            table.add_row([number.into(), verdict(state), took, goal.into()]);
            if !state.eq_ignore_ascii_case("SUCCESS") {
                table.add_note(step.report.as_deref().unwrap_or_default());
            }
        }

        table
    }

    fn job(&mut self, job: &Job, build_name: Option<&str>, execution: Option<TestPlanExecution>) {
        let state = ResultItem::from_job(job).verdict().unwrap_or_else(|| job.status.clone());
        self.title("job", job.test_name.as_deref().unwrap_or_default(), &state);
        self.field("id", &job.job_id);
        self.field("device", job.platform.as_deref().unwrap_or_default());
        self.field("build", &job.build_id.as_ref().map(|id| named(build_name, id)).unwrap_or_default());
        self.times(&job.created_at, &Cell::default(), None);
        let plan = execution.map(|execution| named(execution.test_plan_name.as_deref(), &execution.id));
        self.field("plan execution", &plan.unwrap_or_default());
        self.field("not started", job.queue_rejection_reason.as_deref().unwrap_or_default());
        self.field("tags", &job.tags.join(", "));

        let mut table = Table::new(["verdict", "run", "took"]).fitting([1], Fit::Whole);
        for run in &job.runs {
            let state = run.result.as_ref().or(run.state.as_ref()).map(String::as_str).unwrap_or_default();
            let (started, completed) = (run.started_at.as_deref(), run.completed_at.as_deref());
            let took = duration(None, started, completed, self.context.now);
            table.add_row([verdict(state), run.multiplayer_run_id.as_str().into(), took]);
        }
        self.table("runs", table);
    }

    fn execution(&mut self, execution: &TestPlanExecution, jobs: &[Value], settings: &Settings) {
        let name = execution.test_plan_name.as_deref().unwrap_or_default();
        self.title("plan execution", name, execution_verdict(execution));
        self.field("id", &execution.id);
        let build = execution.build_id.as_ref().map(|id| named(execution.build_name.as_deref(), id));
        self.field("build", &build.unwrap_or_default());
        let (started, completed) = (execution.started_at.as_deref(), execution.completed_at.as_deref());
        let took = duration(execution.duration_ms, started, completed, self.context.now);
        let by = initiator_name(&view(&execution.started_by));
        self.times(started.unwrap_or_default(), &took, by);
        let counts = json!(execution.test_status);
        let counts = counts.as_object().into_iter().flatten().filter(|(_, count)| **count != json!(0));
        let counts = counts.map(|(word, count)| format!("{count} {word}"));
        self.field("tests", &counts.collect::<Vec<_>>().join(", "));

        let build = execution.build_id.clone().zip(execution.build_name.clone());
        self.context.build_names.extend(build);
        self.list("jobs", ListJobs::NAME, jobs);
        self.next(settings, &["report", &execution.id]);
    }

    fn test(&mut self, test: &TestCase, folder: Option<&str>, plans: &[NamedId]) {
        self.title("test", &test.name, "");
        self.field("id", &test.id);
        self.field("folder", folder.unwrap_or_default());
        self.field("type", &test.test_type);
        self.field("version", &test.version.to_string());
        self.field("tags", &test.tags.join(", "));
        self.field("quarantined", if test.content.quarantined { "yes" } else { "" });
        let plans = plans.iter().map(|plan| plan.name.as_deref().unwrap_or(&plan.id));
        self.field("plans", &plans.collect::<Vec<_>>().join(", "));

        let players = &test.content.players_by_key;
        for (index, key) in test.content.player_order.iter().enumerate() {
            let Some(player) = players.get(key) else { continue };
            let mut table = Table::new(["step", "goal"]).fitting([0], Fit::Whole);
            let items = player.items_by_key.iter().flatten();
            let order = player.item_order.iter().flatten();
            let items =
                order.filter_map(|key| items.clone().find(|(own, _)| *own == key)).map(|(_, item)| item);
            for (number, step) in (1_usize..).zip(items.flat_map(steps_of)) {
                table.add_row([number.to_string(), step.goal.clone().unwrap_or_default()]);
                table.add_note(&expected(step));
            }
            let heading =
                if players.len() > 1 { format!("steps of player {}", index + 1) } else { "steps".to_owned() };
            self.table(&heading, table);
        }
    }

    fn plan(&mut self, plan: &TestPlan, test_name: impl Fn(&str) -> Option<String>) {
        self.title("plan", &plan.name, "");
        self.field("id", &plan.id);
        let changed = ago(plan.audit.modified_at.as_deref().unwrap_or_default(), &self.context);
        let by = plan.audit.modified_by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default();
        self.field("changed", &format!("{changed}{by}"));

        let slots = plan.slots.iter().flatten().map(|slot| (slot.index, slot.name.clone()));
        let slots = plan.default_slot_name.iter().map(|name| (1, Some(name.clone()))).chain(slots);
        for (number, name) in slots {
            self.field(&format!("slot {number}"), &name.unwrap_or_else(|| "without a name".to_owned()));
        }

        let mut table = Table::new(["test", "retries", "id"]).fitting([1], Fit::Whole).fitting([2], Fit::Id);
        for item in &plan.test_items {
            let id = item.multiplayer_test_id.as_str();
            table.add_row([test_name(id).unwrap_or_default(), item.retries.to_string(), id.to_owned()]);
        }
        self.table("tests", table);
    }

    fn build(&mut self, detail: &BuildDetail) {
        let build = &detail.build;
        self.title("build", &build.name, "");

        self.field("id", &build.id);
        self.field("platform", &build.platform);
        self.field("status", &build.status);
        self.field("file", &format!("{}, {}", build.file_name, size(build.file_size).text()));
        self.field("uploaded", &ago(&build.created_at, &self.context));
        self.field("tags", &build.tags.join(", "));
        self.field("pinned", if build.pinned { "yes" } else { "" });
        self.field("description", build.description.as_deref().unwrap_or_default());

        for (part, fields) in detail.details.iter().flatten() {
            let fields = fields.as_object().into_iter().flatten();
            let texts = fields.filter_map(|(name, value)| Some(format!("{name} {}", value.as_str()?)));
            self.field(part, &texts.collect::<Vec<_>>().join(", "));
        }
    }

    fn bug(&mut self, detail: BugDetail, run_of: impl Fn(&str) -> Option<RunHead>) {
        let BugDetail { bug, mut occurrences } = detail;
        occurrences.sort_by(|one, other| other.detected_at.cmp(&one.detected_at));
        self.title("bug", &bug.title, "");
        self.field("id", &bug.id);
        self.field("severity", &format!("{}, confidence {}", bug.severity, bug.confidence));
        self.field("category", &bug.category);
        self.field("status", &bug.status);
        self.field("tags", &bug.tags.join(", "));
        self.paragraph("description", &bug.description);
        self.paragraph("how to reproduce", &bug.reproduction_steps);

        let header = ["age", "build", "test", "step", "verdict", "run"];
        let mut table = Table::new(header).fitting([0, 3, 4, 5], Fit::Whole);
        for occurrence in &occurrences {
            let run = run_of(&occurrence.multiplayer_run_id).unwrap_or_default();
            let build = run.build.and_then(|build| build.name);
            let state = run.result.as_deref().unwrap_or(&run.state);
            table.add_row([
                age(&occurrence.detected_at, &self.context),
                build.unwrap_or_default().into(),
                occurrence.test_name.clone().unwrap_or_default().into(),
                occurrence.test_step.to_string().into(),
                verdict(state),
                occurrence.multiplayer_run_id.as_str().into(),
            ]);
        }
        self.table("occurrences", table);
    }
}

fn named(name: Option<&str>, id: &str) -> String {
    let beginning = id.split('-').next().unwrap_or(id);
    name.map_or_else(|| id.to_owned(), |name| format!("{name} ({beginning})"))
}

fn steps_of(item: &TestItem) -> Vec<&StepBody> {
    match (&item.steps_by_key, &item.step_order) {
        (Some(steps), Some(order)) => order.iter().filter_map(|key| steps.get(key)).collect(),
        _ => vec![&item.step],
    }
}

fn expected(step: &StepBody) -> String {
    let results = step.expected_results.iter().flatten().map(|result| result.expected.as_str());
    let results: Vec<_> = results.collect();
    let condition = step.finish_condition.clone().unwrap_or_default();
    let text = if results.is_empty() { condition } else { results.join("; ") };
    if text.is_empty() { text } else { format!("expected: {text}") }
}
