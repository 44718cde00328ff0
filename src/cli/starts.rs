//! The starts of this user on this machine, by which `latest` and `--mine` know whose a run is: the service does not tell a
//! key who it is. A run with the same initiator as one of these is the user's too.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    service::{
        api::{executions::TestPlanExecution, jobs::Job, runs::Run},
        lenient::view,
        result_kind::ResultKind,
    },
    settings::Settings,
};

/// Largest number of starts that are remembered.
const MAX_STARTS: usize = 200;

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A start of jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct Start {
    /// Address of the service.
    service: String,
    account: String,
    jobs: Vec<String>,
    execution: Option<String>,
}

/// The starts of an account. They are lost if the file cannot be read or written: then nothing is the user's.
#[derive(Debug)]
pub(super) struct Starts {
    /// `None` if there is no directory for the file, or if the service ends with the command.
    path: Option<PathBuf>,
    service: String,
    account: String,
    all: Vec<Start>,
}

impl Starts {
    /// Reads the starts of the account that the settings describe.
    pub(super) fn read(settings: &Settings) -> Self {
        let directory = settings.state_directory().filter(|_| !settings.wants_sandbox());
        let path = directory.map(|directory| directory.join("starts.json"));

        Self {
            all: path.as_deref().and_then(read_file).unwrap_or_default(),
            path,
            service: settings.base_url().unwrap_or_default().to_owned(),
            account: settings.account().to_owned(),
        }
    }

    /// Remembers a start. Two commands at the same moment may lose one.
    pub(super) fn add(&mut self, jobs: &[String], execution: Option<&str>) {
        let Some(path) = &self.path else { return };
        self.all.push(Start {
            service: self.service.clone(),
            account: self.account.clone(),
            jobs: jobs.to_vec(),
            execution: execution.map(str::to_owned),
        });
        self.all.drain(..self.all.len().saturating_sub(MAX_STARTS));

        if let Err(error) = write_file(path, &self.all) {
            tracing::warn!("the start is not remembered in {}: {error}", path.display());
        }
    }

    fn own(&self) -> impl Iterator<Item = &Start> {
        self.all.iter().filter(|start| start.service == self.service && start.account == self.account)
    }

    /// Returns what tells the user's records among `records` of the kind `kind`.
    pub(super) fn ownership(&self, kind: ResultKind, records: &[Value]) -> Ownership<'_> {
        let mut ownership = Ownership { starts: self, kind, initiators: Vec::new() };
        let own = records.iter().filter(|record| ownership.has_started(record));
        ownership.initiators =
            own.map(|record| initiator(kind, record)).filter(|one| !one.is_null()).collect();
        ownership
    }
}

/// Tells the user's records.
pub(super) struct Ownership<'a> {
    starts: &'a Starts,
    kind: ResultKind,
    /// The initiators of what was started on this machine.
    initiators: Vec<Value>,
}

impl Ownership<'_> {
    /// Returns whether the user has started the record.
    pub(super) fn contains(&self, record: &Value) -> bool {
        self.has_started(record) || self.initiators.contains(&initiator(self.kind, record))
    }

    /// Returns whether this machine has started the record.
    fn has_started(&self, record: &Value) -> bool {
        let has_job = |job: &str| self.starts.own().any(|start| start.jobs.iter().any(|own| own == job));
        let has_execution = |id: &str| self.starts.own().any(|start| start.execution.as_deref() == Some(id));

        match self.kind {
            ResultKind::Run => has_job(&view::<Run>(record).head.job_id),
            ResultKind::Job => {
                let job: Job = view(record);
                has_job(&job.job_id) || job.test_plan_execution_id.is_some_and(|id| has_execution(&id))
            }
            ResultKind::Execution => has_execution(&view::<TestPlanExecution>(record).id),
        }
    }
}

/// Returns who started a record; null if the record does not say it.
fn initiator(kind: ResultKind, record: &Value) -> Value {
    let initiator = match kind {
        ResultKind::Run => record.get("initiator"),
        ResultKind::Job => None,
        ResultKind::Execution => record.get("started_by"),
    };
    initiator.cloned().unwrap_or_default()
}

fn read_file(path: &Path) -> Option<Vec<Start>> {
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Replaces the file as a whole.
fn write_file(path: &Path, starts: &[Start]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(serde_json::to_string(starts)?.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn starts(path: &Path) -> Starts {
        Starts {
            path: Some(path.to_owned()),
            service: "https://tas.example".to_owned(),
            account: "default".to_owned(),
            all: read_file(path).unwrap_or_default(),
        }
    }

    #[test]
    fn what_was_started_here_and_what_its_initiator_started_is_the_users() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state/starts.json");
        starts(&path).add(&["j1".to_owned()], Some("e1"));
        let starts = starts(&path);

        let run = |job: &str, key: &str| json!({"job_id": job, "initiator": {"type": "api", "value": {"key_id": key}}});
        let runs = [run("j1", "mine"), run("j2", "mine"), run("j3", "other"), json!({"job_id": "j4"})];
        let ownership = starts.ownership(ResultKind::Run, &runs);
        assert_eq!(runs.each_ref().map(|run| ownership.contains(run)), [true, true, false, false]);

        let jobs = [
            json!({"job_id": "j1"}),
            json!({"job_id": "j5", "test_plan_execution_id": "e1"}),
            json!({"job_id": "j2"}),
        ];
        let ownership = starts.ownership(ResultKind::Job, &jobs);
        assert_eq!(jobs.each_ref().map(|job| ownership.contains(job)), [true, true, false]);

        let other = Starts { account: "ci".to_owned(), ..starts };
        assert!(!other.ownership(ResultKind::Run, &runs).contains(&runs[0]));
    }

    #[test]
    fn the_number_of_starts_is_limited_and_a_damaged_file_is_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("starts.json");
        for number in 0..=MAX_STARTS {
            starts(&path).add(&[number.to_string()], None);
        }
        let all = starts(&path).all;
        assert_eq!((all.len(), all[0].jobs[0].as_str()), (MAX_STARTS, "1"));

        fs::write(&path, "{").expect("it can be written");
        assert_eq!(starts(&path).all, []);
    }
}
