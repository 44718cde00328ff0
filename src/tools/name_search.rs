//! The search for records by their names, in the lists of the service.

mod details;
mod matching;

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::matching::Matches;
pub use self::matching::is_named;
use crate::{
    call::{
        Caller,
        paging::{LONG_LIST_PAGES, ListRecords, Omission, how_to_repeat},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            bugs::{Bug, ListBugs},
            builds::{Build, ListBuilds},
            configs::{AgentConfig, DeploymentConfig, ListAgentConfigs, ListDeploymentConfigs},
            folders::{ListTestFolders, TestFolder},
            plans::{ListTestPlans, TestPlanSummary},
            shared_steps::{ListSharedSteps, SharedStepSummary},
            tests::{ListTests, TestSummary},
        },
        catalog::{ListedOperation as _, OperationEntry},
        lenient::view,
    },
    text::shorten_line,
    tools::{
        call_options::CallOptions,
        reader::{Reader, shows_folders},
    },
};

/// Longest reason for an incomplete match, in characters.
const LONGEST_REASON: usize = 300;

/// Number of records that are matched before the thread serves other calls.
const MATCHED_AT_ONCE: usize = 20;

// No doc comment, because it would become part of the description of the argument.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
pub enum RecordKind {
    Test,
    TestPlan,
    TestFolder,
    DeploymentConfig,
    AgentConfig,
    Build,
    SharedStep,
    Bug,
}

/// What was found for all names.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct NameSearchAnswer {
    /// `true`: lists are missing; `unread` names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<bool>,
    /// How to get what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<String>,
    /// One result for each name, in the order of `names`.
    pub results: Vec<NameResult>,
    /// Lists that could not be read completely. A record in them may be missing from the results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// What was found for one name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct NameResult {
    /// The name as it was asked for.
    pub name: String,
    /// `exact`: the records have this name or id, letter by letter; those that differ in case follow. `case`: all differ
    /// in case. `similar`: no record has it, and these come nearest. `none`: no record is similar. `incomplete`: no
    /// record was found, but lists are missing, so that it may exist.
    pub r#match: NameMatch,
    /// Why the match is `incomplete`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub records: Vec<FoundRecord>,
}

impl NameResult {
    /// Returns the only record that has the name. A record with the same letters is meant before one that differs in case,
    /// and one in use before archived ones.
    ///
    /// # Errors
    /// The result itself, if no record or several have the name.
    pub fn into_single(mut self) -> Result<FoundRecord, Self> {
        let has_name = matches!(self.r#match, NameMatch::Exact | NameMatch::Case);
        let same = || self.records.iter().filter(|record| record.r#match.is_none());
        let in_use = same().filter(|record| !matching::is_archived(record)).count();
        // Records in use come first.
        let is_single = same().count() == 1 || in_use == 1;

        if has_name && is_single { Ok(self.records.swap_remove(0)) } else { Err(self) }
    }
}

/// How the records of a result match the name.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[serde(rename_all = "lowercase")]
pub enum NameMatch {
    Exact,
    Case,
    Similar,
    None,
    Incomplete,
}

/// A record that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct FoundRecord {
    pub kind: RecordKind,
    pub id: String,
    pub name: String,
    /// `case` if the record differs in case, and others do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#match: Option<NameMatch>,
    /// Fields that tell records with the same name apart. If the name matches, `slots` of a plan and `players` of a
    /// test: number to name.
    #[serde(flatten)]
    pub more: Fields,
}

impl FoundRecord {
    /// Returns the record `record` of the list of `kind`; `None` if it has no id.
    pub fn from_record(kind: RecordKind, record: &Value) -> Option<Self> {
        Some(kind.read(record).found).filter(|found| !found.id.is_empty())
    }
}

/// A record of a list, with the names by which users know it.
struct NamedRecord {
    found: FoundRecord,
    /// Path of a folder, or file name of a build; empty if there is none.
    other_name: String,
}

impl NamedRecord {
    fn new(kind: RecordKind, id: String, name: String) -> Self {
        Self {
            found: FoundRecord { kind, id, name, r#match: None, more: Fields::new() },
            other_name: String::new(),
        }
    }

    /// Adds another name, which takes the place of the name if that is missing.
    fn also_named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.other_name);
        if self.found.name.is_empty() {
            name.clone_into(&mut self.found.name);
        }
        self
    }

    /// Adds a field that tells records apart, if the record has it.
    fn with(mut self, field: &str, value: impl Into<Option<String>>) -> Self {
        if let Some(value) = value.into().filter(|value| !value.is_empty()) {
            self.found.more.insert(field.to_owned(), json!(value));
        }
        self
    }

    /// Adds a number that tells records apart. Zero may mean that the service does not state it.
    fn with_count(mut self, field: &str, count: usize) -> Self {
        if count > 0 {
            self.found.more.insert(field.to_owned(), json!(count));
        }
        self
    }
}

impl RecordKind {
    /// Every kind, in the order in which records are shown.
    pub(in crate::tools) const ALL: [Self; 8] = [
        Self::Test,
        Self::TestPlan,
        Self::TestFolder,
        Self::DeploymentConfig,
        Self::AgentConfig,
        Self::Build,
        Self::SharedStep,
        Self::Bug,
    ];

    /// Returns the operation that lists the records.
    pub fn list(self) -> &'static OperationEntry {
        match self {
            Self::Test => ListTests::entry(),
            Self::TestPlan => ListTestPlans::entry(),
            Self::TestFolder => ListTestFolders::entry(),
            Self::DeploymentConfig => ListDeploymentConfigs::entry(),
            Self::AgentConfig => ListAgentConfigs::entry(),
            Self::Build => ListBuilds::entry(),
            Self::SharedStep => ListSharedSteps::entry(),
            Self::Bug => ListBugs::entry(),
        }
    }

    /// Returns the arguments without which the list does not contain every record.
    pub fn filter(self) -> Fields {
        let all = (self == Self::Bug).then(|| ("status".to_owned(), json!("all")));
        all.into_iter().collect()
    }

    fn read(self, record: &Value) -> NamedRecord {
        let named = |id, name| NamedRecord::new(self, id, name);

        match self {
            Self::Test => {
                let test: TestSummary = view(record);
                named(test.id, test.name).with("folder_path", test.folder_path).with("type", test.r#type)
            }
            Self::TestPlan => {
                let plan: TestPlanSummary = view(record);
                let named = named(plan.id, plan.name).with_count("test_count", plan.test_count);
                named.with("created_at", plan.audit.created_at)
            }
            Self::TestFolder => {
                let folder: TestFolder = view(record);
                named(folder.id, folder.name).also_named(&folder.path).with("path", folder.path)
            }
            Self::DeploymentConfig => {
                let config: DeploymentConfig = view(record);
                // `kind` is the kind of the record in the answer.
                let named = named(config.id, config.name).with("platform", config.kind);
                named.with("providerType", config.provider_type).with("description", config.description)
            }
            Self::AgentConfig => {
                let config: AgentConfig = view(record);
                named(config.id, config.name).with("description", config.description)
            }
            Self::Build => {
                let build: Build = view(record);
                let named = named(build.id, build.name).also_named(&build.file_name);
                let named = named.with("platform", build.platform).with("status", build.status);
                named.with("file_name", build.file_name).with("created_at", build.created_at)
            }
            Self::SharedStep => {
                let step: SharedStepSummary = view(record);
                let named = named(step.id, step.name).with_count("steps_count", step.steps_count);
                named.with("created_at", step.created_at)
            }
            Self::Bug => {
                let bug: Bug = view(record);
                let named = named(bug.id, bug.title).with("severity", bug.severity);
                named.with("status", bug.status).with("created_at", bug.created_at)
            }
        }
    }
}

/// A search for records by their names.
#[derive(Clone, Debug)]
pub struct NameSearch {
    /// The names or ids to search for.
    pub names: Vec<String>,
    /// The kinds of records to search; all kinds if empty.
    pub kinds: Vec<RecordKind>,
    /// Whether the slots of plans and the players of tests are read.
    pub with_details: bool,
}

impl NameSearch {
    /// Reads the lists and returns the records with the names, or else the nearest ones. The project is `None` if the
    /// settings or the key decide it. Dropping the future ends the reading.
    ///
    /// # Errors
    /// The failure of the first list, if no list could be read.
    pub async fn run(
        self,
        caller: &Caller,
        project: Option<String>,
        options: &CallOptions,
    ) -> Result<NameSearchAnswer, Failure> {
        let mut kinds = if self.kinds.is_empty() { RecordKind::ALL.to_vec() } else { self.kinds };
        kinds.sort_unstable();
        kinds.dedup();

        let reader = Reader::new(caller, project.as_deref());
        let (mut search, with_details) = (
            Search { matches: Matches::new(self.names), unread: Vec::new(), is_forbidden: true },
            self.with_details,
        );
        let work = async {
            search.read_lists(&reader, &kinds).await?;

            let mut answer = search.into_answer();
            if with_details {
                details::add(&reader, &mut answer).await;
            }
            Ok(answer)
        };

        reader.run(options, work).await
    }
}

/// What has been found so far.
struct Search {
    matches: Matches,
    unread: Vec<Omission>,
    /// Whether a permission is missing for everything that is unread.
    is_forbidden: bool,
}

impl Search {
    /// Returns the answer. If a list is missing, a name that was not found may exist.
    fn into_answer(self) -> NameSearchAnswer {
        let Self { matches, unread, is_forbidden } = self;
        let mut results = matches.into_results();

        let reasons: Vec<_> = unread.iter().map(|Omission { what, why }| format!("{what}: {why}")).collect();
        let reason = shorten_line(&reasons.join("; "), LONGEST_REASON);
        let is_absent = |result: &&mut NameResult| {
            let is_found = matches!(result.r#match, NameMatch::Exact | NameMatch::Case);
            !(unread.is_empty() || is_forbidden && is_found)
        };
        for result in results.iter_mut().filter(is_absent) {
            result.r#match = NameMatch::Incomplete;
            result.reason = Some(reason.clone());
        }

        let repeat = how_to_repeat(&unread).filter(|_| !is_forbidden);
        NameSearchAnswer { incomplete: (!unread.is_empty()).then_some(true), repeat, results, unread }
    }

    /// Reads the lists of these kinds concurrently.
    ///
    /// # Errors
    /// The failure of the first list, if no list could be read.
    async fn read_lists(&mut self, reader: &Reader, kinds: &[RecordKind]) -> Result<(), Failure> {
        let lists = kinds.iter().map(|kind| async move {
            let filter = kind.filter();
            reader.list(kind.list(), &filter, LONG_LIST_PAGES).await
        });
        let lists = join_all(lists).await;
        if lists.iter().all(Result::is_err) {
            return lists.into_iter().next().map_or(Ok(()), |first| first.map(drop));
        }

        let (mut tests, mut folders) = (None, None);
        for (kind, list) in kinds.iter().zip(lists) {
            let list = self.add(*kind, list, kind.list().name).await;
            match kind {
                RecordKind::Test => tests = list,
                RecordKind::TestFolder => folders = list,
                _ => {}
            }
        }

        match tests {
            Some(tests) if !shows_folders(&tests) => self.add_tests_in_folders(reader, folders).await,
            _ => {}
        }

        Ok(())
    }

    /// Adds the tests of every folder, for a service whose list of tests shows only those of the root (service.md 6.1).
    /// `folders` are the folders if they have been read.
    async fn add_tests_in_folders(&mut self, reader: &Reader, folders: Option<Vec<Value>>) {
        let (tests, unread) = reader.tests_in_folders(folders).await;
        self.is_forbidden &= unread.is_empty();
        self.unread.extend(unread);
        self.add_records(RecordKind::Test, &tests).await;
    }

    /// Adds the matching records of a list, and what could not be read of it. `what` names the list. Returns the
    /// records of the list, or `None` if it could not be read.
    async fn add(
        &mut self,
        kind: RecordKind,
        list: Result<ListRecords, Failure>,
        what: &str,
    ) -> Option<Vec<Value>> {
        let list = match list {
            Ok(list) => list,
            Err(failure) => {
                self.is_forbidden &= matches!(failure.code, Code::PermissionDenied | Code::Unauthenticated);
                self.omit(what.to_owned(), failure.message);
                return None;
            }
        };

        let missing = list.unread_pages(what, LONG_LIST_PAGES);
        self.is_forbidden &= missing.is_empty();
        self.unread.extend(missing);
        self.add_records(kind, &list.records).await;

        Some(list.records)
    }

    async fn add_records(&mut self, kind: RecordKind, records: &[Value]) {
        for records in records.chunks(MATCHED_AT_ONCE) {
            for record in records {
                self.matches.add(&kind.read(record));
            }
            tokio::task::yield_now().await;
        }
    }

    fn omit(&mut self, what: String, why: String) {
        self.unread.push(Omission { what, why });
    }
}
