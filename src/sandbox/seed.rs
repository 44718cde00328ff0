//! The records that every sandbox starts with: two projects of a game studio. `seed.toml` describes them.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::sandbox::model::builds::{DeviceConfig, StoredBuild};
use crate::sandbox::model::job::{Execution, JobStop, NO_DEVICE, PlayerDevice, SimulatedJob, Starter};
use crate::sandbox::model::records::{Records, step_id};
use crate::sandbox::model::saved_test::{
    CaseLink, SavedPlan, SavedTest, ScriptedOutcome, ScriptedPlayer, ScriptedStep, TestKind,
};
use crate::sandbox::model::test_content::{body, content_of};
use crate::sandbox::model::time::Moment;
use crate::sandbox::model::world::{
    Folder, KnowledgeScope, Project, StoredBug, StoredKnowledgeFile, parent_of,
};
use crate::service::api::Open;
use crate::service::api::configs::{AgentConfig, CredentialKind};
use crate::service::api::shared_steps::{SharedStep, StepList};
use crate::service::api::tests::TestContent;

mod ids;

pub use ids::*;

/// Version of each seeded test.
const TEST_VERSION: u32 = 3;

/// Returns the projects of a sandbox whose history ends at `start`, or what is wrong with the seed.
pub(super) fn projects(start: Moment) -> Result<Vec<Project>, String> {
    let seed: IndexMap<String, ProjectSeed> =
        toml_edit::de::from_str(include_str!("seed.toml")).map_err(|error| error.to_string())?;
    let project = |(id, mut seed): (String, ProjectSeed)| {
        for time in seed.times() {
            *time = start + (*time - Moment::EPOCH);
        }
        seed.build(&id).map_err(|problem| format!("the seed of project {id}: {problem}"))
    };
    seed.into_iter().map(project).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectSeed {
    integration: bool,
    bug_review: bool,
    folders: Vec<Folder>,
    agents: Vec<AgentConfig>,
    credential_kinds: Vec<CredentialKind>,
    configs: Vec<DeviceConfig>,
    builds: Vec<StoredBuild>,
    bugs: Vec<StoredBug>,
    shared_steps: Vec<SharedStepSeed>,
    tests: Vec<TestSeed>,
    plans: Vec<SavedPlan>,
    history: Vec<BatchSeed>,
    knowledge: Vec<StoredKnowledgeFile>,
}

impl ProjectSeed {
    /// Returns every time of the seed. At first they are spans before the start.
    fn times(&mut self) -> impl Iterator<Item = &mut Moment> {
        let folders = self.folders.iter_mut().map(|folder| &mut folder.created);
        let builds = self.builds.iter_mut().map(|build| &mut build.created);
        let reviews = self.bugs.iter_mut().filter_map(|bug| bug.review.as_mut()).map(|review| &mut review.at);
        let shared_steps = self.shared_steps.iter_mut().map(|steps| &mut steps.created);
        let plans = self.plans.iter_mut().flat_map(|plan| [&mut plan.created, &mut plan.modified]);
        let history = self.history.iter_mut().flat_map(BatchSeed::times);
        let knowledge = self.knowledge.iter_mut().map(|file| &mut file.uploaded);

        folders.chain(builds).chain(reviews).chain(shared_steps).chain(plans).chain(history).chain(knowledge)
    }

    /// Creates the project. A record is added after the records to which it refers.
    fn build(self, id: &str) -> Result<Project, String> {
        let mut project = Project {
            id: id.to_owned(),
            integration: self.integration,
            bug_review: self.bug_review,
            credential_kinds: self.credential_kinds,
            agent_configs: records(self.agents, |agent| &agent.id),
            configs: records(self.configs, |config| &config.id),
            builds: records(self.builds, |build| &build.id),
            bugs: self.bugs.into_iter().map(|bug| (bug.id.clone(), bug)).collect(),
            ..Project::default()
        };

        for mut folder in self.folders {
            folder.parent = project.folder_at(parent_of(&folder.path)).map(|parent| parent.id.clone());
            project.folders.insert(folder.id.clone(), Arc::new(folder));
        }
        let mut collections = IndexMap::new();
        for collection in self.shared_steps {
            let (id, steps) = collection.add_to(&mut project);
            collections.insert(id, steps);
        }
        for test in self.tests {
            test.add_to(&mut project, &collections)?;
        }
        for plan in self.plans {
            add_plan(&mut project, plan)?;
        }
        for batch in self.history {
            batch.add_to(&mut project)?;
        }
        for file in self.knowledge {
            add_knowledge(&mut project, file)?;
        }

        Ok(project)
    }
}

/// A shared step collection, whose versions have equal content.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedStepSeed {
    id: String,
    name: String,
    version: u32,
    created: Moment,
    created_by: String,
    steps: Vec<ScriptedStep>,
}

impl SharedStepSeed {
    /// Adds the collection, and returns its id and the steps that tests with the collection have.
    fn add_to(self, project: &mut Project) -> (String, Vec<ScriptedStep>) {
        let id = self.id;
        let shared = |(number, step): (usize, ScriptedStep)| ScriptedStep {
            id: step_id(&[&id, &number.to_string()]),
            shared: Some(id.clone()),
            ..step
        };
        let steps: Vec<_> = (1..).zip(self.steps).map(shared).collect();
        let keys = (1..=steps.len()).map(|number| number.to_string());

        let collection = SharedStep {
            id: id.clone(),
            project_id: project.id.clone(),
            name: self.name,
            version: self.version,
            is_shared: true,
            created_at: Some(self.created.to_string()),
            created_by: Some(self.created_by),
            steps: StepList {
                step_order: keys.clone().collect(),
                steps_by_key: keys.zip(steps.iter().map(body)).collect(),
            },
            more: Open::new(),
        };
        let saved = |version| Arc::new(SharedStep { version, ..collection.clone() });

        project.shared_step_versions.insert(id.clone(), (0..=self.version).map(saved).collect());
        project.shared_steps.insert(id.clone(), Arc::new(collection));

        (id, steps)
    }
}

/// A test, whose versions have equal content. A test without outcomes passes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestSeed {
    id: String,
    name: String,
    kind: TestKind,
    folder: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    cases: Vec<CaseLink>,
    players: Vec<Vec<StepSeed>>,
    #[serde(default = "passes")]
    outcomes: Vec<ScriptedOutcome>,
}

fn passes() -> Vec<ScriptedOutcome> {
    vec![ScriptedOutcome::passed()]
}

/// A step of a test, or all steps of a collection.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum StepSeed {
    Collection { shared: String },
    Step(ScriptedStep),
}

impl TestSeed {
    fn add_to(
        self,
        project: &mut Project,
        collections: &IndexMap<String, Vec<ScriptedStep>>,
    ) -> Result<(), String> {
        let find_folder = |path: &String| {
            project.folder_at(path).map(|folder| folder.id.clone()).ok_or_else(|| unknown("folder", path))
        };
        let folder = self.folder.as_ref().map(find_folder).transpose()?;
        check_findings(project, &self.outcomes)?;

        let mut players = Vec::new();
        for (number, steps) in (1..).zip(self.players) {
            players.push(ScriptedPlayer { steps: player_steps(&self.id, number, steps, collections)? });
        }

        let mut test = SavedTest {
            id: self.id,
            name: self.name,
            kind: self.kind,
            folder,
            version: TEST_VERSION,
            tags: self.tags,
            players,
            outcomes: self.outcomes,
            cases: self.cases,
            content: TestContent::default(),
        };
        test.content = content_of(&test);
        let saved = |version| Arc::new(SavedTest { version, ..test.clone() });

        project.test_versions.insert(test.id.clone(), (0..=test.version).map(saved).collect());
        project.tests.insert(test.id.clone(), Arc::new(test));

        Ok(())
    }
}

fn player_steps(
    test: &str,
    player: usize,
    seeds: Vec<StepSeed>,
    collections: &IndexMap<String, Vec<ScriptedStep>>,
) -> Result<Vec<ScriptedStep>, String> {
    let mut steps = Vec::new();
    for seed in seeds {
        match seed {
            StepSeed::Collection { shared } => {
                let collection = collections.get(&shared).ok_or_else(|| unknown("shared step", &shared))?;
                steps.extend(collection.iter().cloned());
            }
            StepSeed::Step(step) => {
                let number = steps.len() + 1;
                let id = step_id(&[test, &player.to_string(), &number.to_string()]);
                steps.push(ScriptedStep { id, ..step });
            }
        }
    }

    Ok(steps)
}

fn check_findings(project: &Project, outcomes: &[ScriptedOutcome]) -> Result<(), String> {
    let mut findings = outcomes.iter().flat_map(|outcome| &outcome.findings);
    match findings.find(|finding| !project.bugs.contains_key(&finding.bug)) {
        Some(finding) => Err(unknown("bug", &finding.bug)),
        None => Ok(()),
    }
}

fn add_plan(project: &mut Project, mut plan: SavedPlan) -> Result<(), String> {
    for item in &mut plan.items {
        item.test = named("test", &project.tests, &item.test, |test| &test.name)?.id.clone();
    }

    project.plans.insert(plan.id.clone(), Arc::new(plan));

    Ok(())
}

/// Jobs that were started in the same way. All players use the first working device of the config.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchSeed {
    /// The execution to which the jobs belong.
    execution: Option<ExecutionSeed>,
    config: String,
    build: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    /// A user. A key of the project started the jobs if it is absent.
    started_by: Option<String>,
    created: Moment,
    jobs: Vec<JobSeed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecutionSeed {
    id: String,
    plan: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobSeed {
    id: String,
    run: String,
    test: String,
    created: Option<Moment>,
    #[serde(default)]
    retries: u8,
    stopped: Option<JobStop>,
    /// An earlier version of the test, and how it ended.
    version: Option<u32>,
    outcome: Option<ScriptedOutcome>,
}

impl BatchSeed {
    fn times(&mut self) -> impl Iterator<Item = &mut Moment> {
        std::iter::once(&mut self.created).chain(self.jobs.iter_mut().flat_map(JobSeed::times))
    }

    fn add_to(self, project: &mut Project) -> Result<(), String> {
        let config = Arc::clone(named("config", &project.configs, &self.config, |config| &config.name)?);
        let find_build = |name: &String| named("build", &project.builds, name, |build| &build.name).cloned();
        let build = self.build.as_ref().map(find_build).transpose()?;
        let key = || Starter::Key(format!("key_{}", project.id));
        let started_by = self.started_by.map_or_else(key, Starter::Person);

        let execution = self.execution.as_ref().map(|execution| execution.id.clone());
        if let Some(ExecutionSeed { id, plan }) = self.execution {
            let plan = named("plan", &project.plans, &plan, |plan| &plan.name)?;
            let execution = Execution {
                id: id.clone(),
                plan: plan.id.clone(),
                plan_name: plan.name.clone(),
                build: build.clone(),
                created: self.created,
                started_by: started_by.clone(),
            };
            project.executions.insert(id, execution);
        }

        let device = PlayerDevice { device: config.first_working().cloned(), config, build };
        for seed in self.jobs {
            let test = seed.test(project)?;
            let job = SimulatedJob {
                id: seed.id.clone(),
                first_run: seed.run,
                created: seed.created.unwrap_or(self.created),
                stopped: seed.stopped,
                retries: seed.retries,
                tags: test.tags.iter().chain(&self.tags).cloned().collect(),
                player_devices: vec![device.clone(); test.players.len()],
                execution: execution.clone(),
                started_by: started_by.clone(),
                template_data: None,
                rejection: device.device.is_none().then(|| NO_DEVICE.to_owned()),
                test,
            };
            project.jobs.insert(seed.id, job);
        }

        Ok(())
    }
}

impl JobSeed {
    fn times(&mut self) -> impl Iterator<Item = &mut Moment> {
        self.created.iter_mut().chain(self.stopped.iter_mut().map(|stop| &mut stop.at))
    }

    /// Returns the test as it was when the job was created.
    fn test(&self, project: &Project) -> Result<Arc<SavedTest>, String> {
        let test = named("test", &project.tests, &self.test, |test| &test.name)?;
        let version = self.version.unwrap_or(test.version);
        let outcomes = self.outcome.clone().map_or_else(|| test.outcomes.clone(), |outcome| vec![outcome]);
        check_findings(project, &outcomes)?;

        Ok(Arc::new(SavedTest { version, outcomes, ..SavedTest::clone(test) }))
    }
}

fn add_knowledge(project: &mut Project, mut file: StoredKnowledgeFile) -> Result<(), String> {
    match &mut file.scope {
        KnowledgeScope::Project => {}
        KnowledgeScope::Agent(agent) => {
            *agent = named("agent", &project.agent_configs, agent, |agent| &agent.name)?.id.clone();
        }
        KnowledgeScope::TestCase(test) => {
            *test = named("test", &project.tests, test, |test| &test.name)?.id.clone();
        }
    }

    project.knowledge.push(file);
    Ok(())
}

fn records<T>(seeds: Vec<T>, id_of: impl Fn(&T) -> &String) -> Records<T> {
    seeds.into_iter().map(|seed| (id_of(&seed).clone(), Arc::new(seed))).collect()
}

fn named<'a, T>(
    kind: &str,
    records: &'a Records<T>,
    name: &str,
    name_of: impl Fn(&T) -> &String,
) -> Result<&'a Arc<T>, String> {
    records.values().find(|record| name_of(record) == name).ok_or_else(|| unknown(kind, name))
}

fn unknown(kind: &str, name: &str) -> String {
    format!("there is no {kind} {name:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_the_seed_names_a_record() {
        assert_eq!(projects(Moment::EPOCH).map(|projects| projects.len()), Ok(2));
    }
}
