//! `tas-mcp show`: the description of one record of any kind for people.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use indexmap::IndexSet;
use serde_json::{Value, json};

use super::completions::result_names;
use crate::{
    cli::{
        calls::build_caller,
        columns::{Context, ago, duration, execution_verdict, plain_text, verdict, verdict_style},
        command_names::next_command,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        name_resolution::{NameResolver, choice, noun},
        output::{JsonFlag, LengthFlag, Output, terminal_width},
        table::{Cell, Fit, Table},
        tool_arguments::ProjectFlag,
    },
    fields::{Fields, text_at},
    service::{
        api::{
            shared_steps::StepBody,
            tests::{TestCase, TestPlayer},
        },
        lenient::view,
        record_kind::{RecordKind, ResultKind},
    },
    settings::Settings,
    text::{filled, single_line},
    tools::describe::{RecordDescription, steps_of_run},
};

const EXAMPLES: [&str; 3] =
    ["tas-mcp show latest", r#"tas-mcp show "Release smoke""#, "tas-mcp show EXECUTION_ID"];

/// Fields of a description that are not printed as such: the title has them, or a sentence at the end.
const SAID_ELSEWHERE: [&str; 6] = ["kind", "name", "state", "same_name", "unread", "record"];

/// Fields of a description that may have several lines.
const PARAGRAPHS: [&str; 2] = ["description", "reproduction_steps"];

/// Fields of entries of lists that are long: they stand below the row.
const NOTES: [&str; 2] = ["report", "expected"];

#[derive(Args)]
struct ShowArguments {
    /// Id, beginning of an id or name of a run, job, execution, test, plan, build, device or bug; or `latest`
    #[arg(value_name = "ID", add = result_names())]
    id: String,

    #[command(flatten)]
    output: JsonFlag,

    #[command(flatten)]
    length: LengthFlag,

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
    let (record, others) = resolver.any(&arguments.id).await?;
    let description = RecordDescription::read(&resolver.reader(), record, others).await?;

    let text = || arguments.length.cut(&Page::default().describe(&description, settings));
    output.print(ExitStatus::Success, &description, text)
}

#[derive(Default)]
struct Page {
    text: String,
    context: Context,
}

impl Page {
    fn describe(mut self, description: &RecordDescription, settings: &Settings) -> String {
        self.title(description);
        for (name, value) in shown_fields(description) {
            let is_long = PARAGRAPHS.contains(&name.as_str()) && value != "";
            match &value {
                Value::Array(entries) if entries.iter().any(Value::is_object) => self.table(&name, entries),
                Value::String(text) if is_long => self.paragraph(&name, text),
                value => self.field(&name, value),
            }
        }

        if let RecordKind::Result(_) = description.kind
            && let Some(command) = next_command(settings, &["report", &description.id])
        {
            self.line(&format!("more: {command}"));
        }
        for record in &description.same_name {
            self.line(&format!("same name: {}", choice(record)));
        }
        for omission in &description.unread {
            self.line(&format!("not read: {}: {}", omission.what, omission.why));
        }
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text += &(single_line(line) + "\n");
    }

    fn title(&mut self, description: &RecordDescription) {
        let RecordDescription { kind, name, state, record, .. } = description;
        let state = match (kind, record) {
            // The status of an execution does not say whether its tests passed.
            (RecordKind::Result(ResultKind::Execution), Some(record)) => {
                execution_verdict(&view(record)).to_owned()
            }
            _ => state.clone().unwrap_or_default(),
        };
        let style = verdict_style(&state);
        let (name, state) = (single_line(name), single_line(&state));
        let title = format!("{}  {name}  {}{state}{}", noun(*kind), style.render(), style.render_reset());
        self.text += &(title.trim_end().to_owned() + "\n");
    }

    fn field(&mut self, name: &str, value: &Value) {
        let cell = self.cell(name, value);
        if !cell.text().is_empty() {
            self.text.extend(["  ", &label(name), ": ", &single_line(cell.text()), "\n"]);
        }
    }

    fn paragraph(&mut self, heading: &str, text: &str) {
        self.text.extend(["\n", &label(heading), "\n"]);
        for line in text.lines().map(single_line) {
            self.text.extend(["  ", &line, "\n"]);
        }
    }

    /// Adds the entries of a list as rows. Ids come last.
    fn table(&mut self, heading: &str, entries: &[Value]) {
        let names = entries.iter().filter_map(Value::as_object).flat_map(Fields::keys);
        let mut columns: IndexSet<_> = names.filter(|name| !NOTES.contains(&name.as_str())).collect();
        let is_id = |name: &&String| *name == "id" || name.ends_with("_id");
        columns.sort_by_cached_key(is_id);

        let ids = columns.iter().position(is_id).unwrap_or(columns.len())..columns.len();
        let mut table = Table::new(columns.iter().map(|name| label(name))).fitting(ids, Fit::Id);
        for entry in entries {
            table.add_row(columns.iter().map(|name| self.cell(name, &entry[name.as_str()])));
            for name in NOTES {
                if let Some(text) = text_at(entry, name) {
                    table.add_note(&format!("{name}: {text}"));
                }
            }
        }
        self.text.extend(["\n", &label(heading), "\n", &table.fit(terminal_width()).to_string()]);
    }

    fn cell(&self, name: &str, value: &Value) -> Cell {
        match value {
            Value::Bool(false) => Cell::default(),
            Value::Bool(true) => "yes".into(),
            Value::String(text) if name.ends_with("state") => verdict(text),
            Value::String(text) if name.ends_with("_at") => ago(text, &self.context).into(),
            Value::Number(length) if name == "duration_ms" => {
                duration(length.as_f64(), None, None, self.context.now)
            }
            Value::Array(entries) => entries.iter().map(plain_text).collect::<Vec<_>>().join(", ").into(),
            Value::Object(fields) => self.fields(fields).into(),
            other => plain_text(other).into(),
        }
    }

    /// Returns the fields of a value in one line: a name with the beginning of its id, or each field that has a value.
    fn fields(&self, fields: &Fields) -> String {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        if let (Some(id), Some(name)) = (text("id"), text("name")) {
            return format!("{name} ({})", id.split('-').next().unwrap_or(id));
        }

        let texts = fields.iter().map(|(name, value)| (name, self.cell(name, value)));
        let texts = texts.filter(|(_, cell)| !matches!(cell.text(), "" | "0"));
        texts.map(|(name, cell)| format!("{} {}", label(name), cell.text())).collect::<Vec<_>>().join(", ")
    }
}

fn shown_fields(description: &RecordDescription) -> Fields {
    let record = description.record.clone().unwrap_or_default();
    let mut fields = json!(description).as_object().cloned().unwrap_or_default();
    fields.retain(|name, _| !SAID_ELSEWHERE.contains(&name.as_str()));

    match description.kind {
        RecordKind::Result(ResultKind::Run) => {
            fields.shift_remove("failed_steps");
            fields.insert("steps".to_owned(), steps_of_run(&view(&record)).into());
        }
        RecordKind::Test => drop(fields.insert("steps".to_owned(), steps_of_test(&view(&record)).into())),
        _ => {}
    }
    fields
}

fn label(name: &str) -> String {
    name.trim_end_matches("_at").trim_end_matches("_ms").replace('_', " ")
}

fn steps_of_test(test: &TestCase) -> Vec<Value> {
    let players = &test.content.players_by_key;
    let mut steps = Vec::new();

    for (number, key) in (1_usize..).zip(&test.content.player_order) {
        let bodies = players.get(key).map(steps_of_player).unwrap_or_default();
        steps.extend((1_usize..).zip(bodies).map(|(place, step)| {
            let results = step.expected_results.iter().flatten().map(|result| result.expected.as_str());
            let results = results.collect::<Vec<_>>().join("; ");
            // Older tests have a condition in place of results.
            let expected = filled(&results).or_else(|| step.finish_condition.clone());
            let player = (players.len() > 1).then_some(number);
            json!({"player": player, "step": place, "goal": step.goal, "expected": expected})
        }));
    }

    steps
}

fn steps_of_player(player: &TestPlayer) -> Vec<&StepBody> {
    let (Some(items), Some(order)) = (&player.items_by_key, &player.item_order) else { return Vec::new() };
    let items = order.iter().filter_map(|key| items.get(key));
    let steps = items.flat_map(|item| match (&item.steps_by_key, &item.step_order) {
        (Some(steps), Some(order)) => order.iter().filter_map(|key| steps.get(key)).collect(),
        _ => vec![&item.step],
    });
    steps.collect()
}
