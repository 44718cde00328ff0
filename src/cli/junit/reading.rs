//! What a JUnit document says of each result beside its verdict: the run that decides, the attempts before it, its bugs, and
//! the screenshots of failures, which are saved beside the document.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::{StreamExt as _, stream};

use super::Case;
use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::api::{
        Id, Uuid,
        bugs::{ListRunBugs, RunBug},
        jobs::GetJob,
        runs::{GetRun, RunDetail},
    },
    tools::{
        project_client::ProjectClient,
        report::{Screenshot, download_screenshot, select_screenshots},
        waiting::{Completion, ResultItem, is_completed},
    },
};

const CONCURRENT_READS: usize = 8;

const MAX_SCREENSHOTS: usize = 5;

const SCREENSHOT_TIME: Duration = Duration::from_secs(30);

/// Reads the details of results. What cannot be read is logged, and missing from the cases.
pub(crate) struct CaseReader {
    client: ProjectClient,
    /// Name of what was started, for the class name of the cases.
    plan: String,
    /// Directory for screenshots; `None`: the cases have none.
    directory: Option<PathBuf>,
}

impl CaseReader {
    pub(crate) fn new(
        caller: &Caller,
        project: Option<&str>,
        plan: &str,
        directory: Option<PathBuf>,
    ) -> Self {
        let client = ProjectClient { caller: caller.clone(), project: project.map(str::to_owned) };
        Self { client, plan: plan.to_owned(), directory }
    }

    /// Returns the cases of a wait, in the order of its items.
    pub(crate) async fn cases(&self, completion: &Completion) -> Vec<Case> {
        let cases = completion.items.iter().map(|item| self.case(item));
        stream::iter(cases).buffered(CONCURRENT_READS).collect().await
    }

    async fn case(&self, item: &ResultItem) -> Case {
        let Some(id) = &item.run_id else { return Case::new(item, None, &self.plan) };
        let Some(run) = self.read_run(id).await else { return Case::new(item, None, &self.plan) };

        let bugs = self.read_bugs(id, &run).await;
        let earlier = self.read_earlier_runs(item, id).await;
        let attachments =
            if item.has_passed() { Vec::new() } else { self.save_screenshots(id, &run, &bugs).await };

        let case = Case::new(item, Some(&run), &self.plan);
        case.with_earlier_runs(&earlier).with_bugs(&bugs).with_attachments(attachments)
    }

    async fn read_run(&self, id: &str) -> Option<RunDetail> {
        let reply = self.client.call(&GetRun { run_id: Id(id.to_owned()) }).await;
        known("the steps of a run", reply).map(|reply| reply.view::<GetRun>())
    }

    async fn read_bugs(&self, id: &str, run: &RunDetail) -> Vec<RunBug> {
        // Only records of verification tests state the number of bugs.
        if run.head.bug_info.as_ref().is_some_and(|bugs| bugs.bug_count == Some(0)) {
            return Vec::new();
        }

        let reply = self.client.call(&ListRunBugs { run_id: Id(id.to_owned()) }).await;
        known("the bugs of a run", reply)
            .map(|reply| reply.view::<ListRunBugs>().page.data)
            .unwrap_or_default()
    }

    /// Reads the completed attempts of the job other than `deciding`, if there are any.
    async fn read_earlier_runs(&self, item: &ResultItem, deciding: &str) -> Vec<RunDetail> {
        let job = item.job_id.as_ref().filter(|_| !item.earlier.is_empty());
        let Some(job_id) = job else { return Vec::new() };
        let reply = self.client.call(&GetJob { job_id: Uuid(job_id.clone()) }).await;
        let Some(job) = known("the earlier attempts of a job", reply) else { return Vec::new() };

        let mut runs = Vec::new();
        for attempt in job.view::<GetJob>().runs {
            if attempt.multiplayer_run_id != deciding && is_completed(attempt.state.as_deref()) {
                runs.extend(self.read_run(&attempt.multiplayer_run_id).await);
            }
        }

        runs
    }

    /// Saves the screenshots of a run, and returns their paths.
    async fn save_screenshots(&self, id: &str, run: &RunDetail, bugs: &[RunBug]) -> Vec<String> {
        let Some(directory) = &self.directory else { return Vec::new() };
        let mut saved = Vec::new();
        let saving = async {
            for screenshot in select_screenshots(id, run, bugs).into_iter().take(MAX_SCREENSHOTS) {
                let path = self.save(directory, &screenshot).await;
                saved.extend(known("a screenshot", path).map(|path| path.display().to_string()));
            }
        };

        tokio::select! {
            () = saving => {}
            () = self.client.caller.clock().timeout(SCREENSHOT_TIME) => {
                tracing::warn!("the JUnit file lacks screenshots of {id}: they were not loaded in time");
            }
        }

        saved
    }

    async fn save(&self, directory: &Path, screenshot: &Screenshot) -> Result<PathBuf, Failure> {
        let bytes = download_screenshot(&self.client, screenshot).await?;
        let path = directory.join(file_name(screenshot));
        let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, bytes));

        written.map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", path.display());
            Failure::new(Code::FileError, message)
        })?;
        Ok(path)
    }
}

/// Returns the name of the file of a screenshot. It consists of characters that no system interprets.
fn file_name(screenshot: &Screenshot) -> String {
    let player = screenshot.player_id.replace(|one: char| !one.is_ascii_alphanumeric() && one != '-', "_");
    let shown = screenshot.step.map_or_else(|| "end".to_owned(), |step| format!("step-{step}"));
    let is_png = screenshot.file.filename.to_ascii_lowercase().ends_with(".png");

    format!("{player}-{shown}.{}", if is_png { "png" } else { "jpg" })
}

/// Returns what could be read. Logs what is missing from the document, unless the settings exclude it.
fn known<T>(what: &str, read: Result<T, Failure>) -> Option<T> {
    read.inspect_err(|failure| {
        if failure.code != Code::NotConfigured {
            tracing::warn!("the JUnit file lacks {what}: {failure}");
        }
    })
    .ok()
}
