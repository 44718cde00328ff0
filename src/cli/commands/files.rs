//! `tas-mcp files`: lists the files of a run.

use clap::{ArgMatches, Args, Command, FromArgMatches as _, value_parser};
use globset::GlobMatcher;
use serde::Serialize;
use serde_json::json;

use crate::{
    call::Caller,
    cli::{
        calls::build_caller,
        columns::{Context, age, counted, size},
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        name_resolution::NameResolver,
        output::{Output, OutputFlags, note},
        table::{Cell, Fit, Table},
    },
    failure::{Code, Failure, Violation},
    service::api::{Id, runs::GetRun},
    settings::Settings,
    text::filled,
    tools::{
        download::{RunListing, split_player_id},
        files::compile_pattern,
        project_client::ProjectClient,
    },
};

const EXAMPLES: [&str; 2] = ["tas-mcp files latest", r#"tas-mcp files "Pause and resume" --pattern '*.png'"#];

const MAX_LISTED: usize = 50;

#[derive(Args)]
struct FilesArguments {
    #[command(flatten)]
    selection: FileSelection,

    #[command(flatten)]
    output: OutputFlags,
}

// The files of a run that are meant. A doc comment would become the description of the command.
#[derive(Args)]
pub(super) struct FileSelection {
    /// Id of a run or of one player (RUN-PLAYER), `latest`, or the name of a test: its latest run
    #[arg(value_name = "RUN")]
    pub(super) run_id: String,

    /// Only this player, counted from 1
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub(super) player: Option<Vec<u64>>,

    /// Only files whose names match: `*.png`, `deliverables/**`
    #[arg(long, value_name = "GLOB")]
    pub(super) pattern: Option<Vec<String>>,
}

#[derive(Serialize)]
struct RunFile {
    /// Id of the player.
    run_id: String,
    player_number: u64,
    filename: String,
    size: Option<u64>,
    uploaded_at: Option<String>,
}

pub(super) fn command() -> Command {
    let command = Command::new("files")
        .about("Lists the files of a run")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP));

    FilesArguments::augment_args(command)
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let FilesArguments { mut selection, output } = FilesArguments::from_arg_matches(matches)?;
    let output = Output::from(output);
    let caller = build_caller(settings)?;
    let resolver = NameResolver::new(&caller, None);
    selection.run_id = resolver.run(&selection.run_id).await?;

    let listing = selection.read(&caller).await?;
    let files = selection.choose(&listing)?;
    if files.is_empty() && output.has_rows() {
        note(&format!("the run {} has no files; its state is {}", listing.run_id, listing.state));
    }

    output.print(ExitStatus::Success, &json!({"run_id": listing.run_id, "data": files}), || table(&files))
}

impl FileSelection {
    pub(super) async fn read(&self, caller: &Caller) -> Result<RunListing, Failure> {
        let run_id = split_player_id(&self.run_id).0.to_owned();
        let client = ProjectClient { caller: caller.clone(), project: None };
        let run = client.call(&GetRun { run_id: Id(run_id.clone()) }).await?;

        Ok(RunListing::from_run(&run_id, run.view::<GetRun>()))
    }

    /// Checks that each player exists, and that each pattern matches a file.
    pub(super) fn check(&self, listing: &RunListing) -> Result<(), Failure> {
        self.choose(listing).map(drop)
    }

    fn choose(&self, listing: &RunListing) -> Result<Vec<RunFile>, Failure> {
        let is_listed = |number: &&u64| listing.players.iter().any(|player| player.number == **number);
        if let Some(missing) = self.player.iter().flatten().find(|number| !is_listed(number)) {
            return Err(no_player(*missing, listing));
        }

        let is_whole_run = self.run_id == listing.run_id;
        let players = listing.players.iter().filter(|player| {
            let is_wanted = self.player.as_ref().is_none_or(|numbers| numbers.contains(&player.number));
            is_wanted && (is_whole_run || player.id == self.run_id)
        });
        let files = players.flat_map(|player| {
            player.files.iter().map(|file| RunFile {
                run_id: player.id.clone(),
                player_number: player.number,
                filename: file.filename.clone(),
                size: file.size,
                uploaded_at: filled(&file.uploaded_at),
            })
        });
        let mut files: Vec<_> = files.collect();

        let Some(patterns) = &self.pattern else { return Ok(files) };
        let compiled = compile(patterns)?;
        let is_match = |pattern: &GlobMatcher| files.iter().any(|file| pattern.is_match(&file.filename));
        if let Some((_, pattern)) = compiled.iter().zip(patterns).find(|(pattern, _)| !is_match(pattern)) {
            return Err(no_match(pattern, &files));
        }

        files.retain(|file| compiled.iter().any(|pattern| pattern.is_match(&file.filename)));
        Ok(files)
    }
}

fn compile(patterns: &[String]) -> Result<Vec<GlobMatcher>, Failure> {
    let compile = |pattern: &String| {
        compile_pattern(pattern).map_err(|problem| {
            let violation = Violation::new("pattern", format!("`{pattern}` is not a pattern: {problem}"));
            Failure::invalid_arguments("files", &[violation])
        })
    };
    patterns.iter().map(compile).collect()
}

fn no_player(missing: u64, listing: &RunListing) -> Failure {
    let message = format!("run {} has no player {missing}", listing.run_id);
    let hint = format!("it has {}; nothing was saved", counted(listing.players.len(), "player"));
    Failure::new(Code::InvalidArguments, message).hint(hint)
}

fn no_match(pattern: &str, files: &[RunFile]) -> Failure {
    let message = format!("no file of the run matches `{pattern}`; it has {}", counted(files.len(), "file"));
    let more = files.len().saturating_sub(MAX_LISTED);
    let more = (more > 0).then(|| format!("and {more} more"));
    let mut failure = Failure::new(Code::InvalidArguments, message).hint("nothing was saved");
    let names = files.iter().take(MAX_LISTED).map(|file| file.filename.clone());
    failure.facts.choices = names.chain(more).collect();

    failure
}

fn table(files: &[RunFile]) -> Table {
    let context = Context::default();
    let mut table = Table::new(["player", "file", "size", "age"]).fitting([0, 2, 3], Fit::Whole);
    for file in files {
        let size = file.size.map(size).unwrap_or_default();
        let age = age(file.uploaded_at.as_deref().unwrap_or_default(), &context);
        table.add_row([Cell::from(file.player_number.to_string()), file.filename.as_str().into(), size, age]);
    }

    table
}
