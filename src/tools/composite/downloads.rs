//! The tool that saves files of the service as local files: `download_run_files`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::CompositeTool;
use crate::{
    failure::Failure,
    fields::Fields,
    service::{
        api::Id,
        lenient::view,
        rule::Rule,
        tool::{ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        download::{DownloadOptions, DownloadReport, DownloadRequest, RequestedFile},
        files::file_name,
    },
    violation::Violation,
};

/// Saves the files of a run locally: recordings, logs, screenshots, reports.
///
/// Files of several players are saved in `player-1/`, `player-2/` and so on. Returns `status: downloading` after 45 s:
/// repeat the same call to continue.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DownloadRunFiles {
    /// Run, or `<run>-<player>` for one player[[; from `tool:list_runs`]].
    pub run_id: Id,
    /// Directory below the files root; created if missing.
    pub destination_dir: String,
    /// Single files. Not with `players` or `patterns`.
    pub files: Option<Vec<FileChoice>>,
    /// Numbers of players, from 1; default: all.
    #[schemars(inner(range(min = 1)))]
    pub players: Option<Vec<u64>>,
    /// Glob patterns such as `*.png` or `logs/**`.
    pub patterns: Option<Vec<String>>,
    /// Replaces existing files; default false.
    #[schemars(extend("default" = false))]
    pub overwrite: Option<bool>,
}

// A selected file.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FileChoice {
    /// Player `<run>-<player>`[[; `players[].id` of `tool:get_run`]].
    pub run_id: Id,
    /// `artifact:<path>`[[; paths from `tool:list_run_artifacts`]].
    pub file_ref: String,
    /// Path below `destination_dir`; default: its own.
    pub relative_path: Option<String>,
}

impl CompositeTool for DownloadRunFiles {
    const TOOL: ToolInfo =
        ToolInfo::replaces("download_run_files", "Download the files of a run", Toolset::Artifacts)
            .needs("project:read-runs")
            .rules(&[
                Rule::Excludes("files", "players"),
                Rule::Excludes("files", "patterns"),
                Rule::Custom(files_are_of_the_run),
            ])
            .uses_local_files()
            .requires_fields(&["status"])
            .recovery_hint("call again: files that exist are not downloaded again");
    type Answer = DownloadReport;

    async fn run(self, context: ToolContext) -> Result<DownloadReport, Failure> {
        let destination = context.files.root()?.destination(&self.destination_dir)?;
        let choice = |one: FileChoice| RequestedFile {
            run_id: one.run_id,
            file_ref: one.file_ref,
            relative_path: one.relative_path,
        };
        let request = DownloadRequest {
            project: context.project,
            run_id: self.run_id.0,
            files: self.files.map(|files| files.into_iter().map(choice).collect()),
            players: self.players,
            patterns: self.patterns,
            overwrite: self.overwrite == Some(true),
        };

        let options = &context.options;
        let mut report =
            request.run(&context.caller, &destination, &DownloadOptions::default(), options).await?;
        let hints = report.failed.iter_mut().map(|file| &mut file.hint).chain(&mut report.hint);
        hints.for_each(|hint| hint.address(&*options.tools));

        Ok(report)
    }
}

// The arguments that a rule reads. Their types may be wrong, which the check of the schema reports.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FilesOfRun {
    run_id: String,
    files: Vec<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UncheckedFile {
    run_id: Option<String>,
    file_ref: Option<String>,
    relative_path: Option<String>,
}

/// Checks the entries of `files` that a schema cannot check: player ids, references and names.
fn files_are_of_the_run(arguments: &Fields, violations: &mut Vec<Violation>) {
    let FilesOfRun { run_id: run, files } = view(arguments);

    for (place, file) in files.iter().map(view::<UncheckedFile>).enumerate() {
        let mut broken = |name: &str, rule: String| {
            violations.push(Violation::new(format!("files.{place}.{name}"), rule));
        };
        if let Some(id) = file.run_id
            && (id == DownloadRequest::run_id_of(&id)
                || DownloadRequest::run_id_of(&id) != DownloadRequest::run_id_of(&run))
        {
            broken("run_id", format!("must be the id of a player of `{}`", DownloadRequest::run_id_of(&run)));
        }

        if file.file_ref.is_some_and(|file_ref| !DownloadRequest::is_file_ref(&file_ref)) {
            broken("file_ref", "must be `artifact:<path>`".to_owned());
        }

        if let Some(problem) = file.relative_path.as_deref().and_then(file_name::path_problem) {
            broken("relative_path", format!("is not a valid name: it {problem}"));
        }
    }
}
