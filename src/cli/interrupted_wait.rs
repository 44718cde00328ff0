//! A wait that a user can interrupt and continue later.

use serde_json::json;

use super::{
    advice::continue_with,
    command_error::CommandError,
    confirmation::{ConsentAnswer, ask},
    name_resolution::jobs_of,
    notes::note,
    termination::TerminationSignals,
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    failure::Failure,
    fields::Fields,
    service::{api::runs::StopRuns, catalog::ListedOperation as _},
    settings::Settings,
    tools::waiting::WaitTarget,
};

/// What is waited for, so that the wait can be continued.
pub(super) struct WaitSubject<'a> {
    pub(super) settings: &'a Settings,
    pub(super) caller: &'a Caller,
    pub(super) project: Option<&'a str>,
    pub(super) target: WaitTarget,
    /// Ids of the jobs that are known already.
    pub(super) jobs: Vec<String>,
}

impl WaitSubject<'_> {
    /// Returns the advice to continue the wait.
    pub(super) fn advice(&self) -> String {
        let ids = match &self.target {
            WaitTarget::Single(result) => std::slice::from_ref(&result.id),
            WaitTarget::Jobs(ids) => ids,
        };
        let project = self.project.into_iter().flat_map(|project| ["--project-id", project]);
        let words: Vec<_> =
            std::iter::once("wait").chain(ids.iter().map(String::as_str)).chain(project).collect();

        continue_with(self.settings, &words)
    }

    /// Prints the ids of the jobs, and the command that continues the wait.
    pub(super) fn announce(&self) {
        let jobs = match &self.target {
            WaitTarget::Jobs(ids) => ids,
            WaitTarget::Single(_) => &self.jobs,
        };
        if !jobs.is_empty() {
            note(&format!("jobs: {}", jobs.join(" ")));
        }
        note(&self.advice());
    }

    /// Waits for the end of `wait` or for a signal. After a signal a user at the terminal is asked whether to stop the
    /// runs. Returns the output of `wait`, or `None` after a signal.
    pub(super) async fn interruptible<T>(
        &self,
        wait: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Option<T>, CommandError> {
        let mut signals = TerminationSignals::new();
        tokio::select! {
            output = wait => return Ok(Some(output?)),
            () = signals.next() => {}
        }

        tokio::select! {
            ended = self.end_early() => ended.map(|()| None),
            // A second signal is not discussed.
            () = signals.next() => Ok(None),
        }
    }

    /// Says how to continue, and stops the runs if the user wants it.
    async fn end_early(&self) -> Result<(), CommandError> {
        note("interrupted; the runs continue");
        note(&self.advice());

        let question =
            tokio::task::spawn_blocking(|| ask("The runs can be stopped now; stopped runs have no verdict"));
        // A thread that panics has not asked.
        if question.await.map_or(Ok(ConsentAnswer::NotAsked), |answer| answer)? != ConsentAnswer::Yes {
            return Ok(());
        }

        let jobs = jobs_of(self.caller, self.project, &self.target, &self.jobs).await?;
        let own = Fields::from_iter([("job_ids".to_owned(), json!(jobs))]);
        let arguments = ToolArguments::new(own, CommonArguments::in_project(self.project));
        self.caller.call_guarded(StopRuns::entry(), arguments).await?;
        note(&format!("stopped jobs: {}", jobs.join(" ")));

        Ok(())
    }
}
