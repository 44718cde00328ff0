//! Knowledge files of a project, its agents and its tests (service.md 13).

use crate::sandbox::model::time::Moment;

/// The runs that can read a knowledge file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnowledgeScope {
    Project,
    Agent(String),
    TestCase(String),
}

impl KnowledgeScope {
    /// Returns the name that the service uses.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Agent(_) => "agent",
            Self::TestCase(_) => "test_case",
        }
    }

    /// Returns the id of the agent or test.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Project => None,
            Self::Agent(id) | Self::TestCase(id) => Some(id.clone()),
        }
    }
}

/// A file in knowledge storage. A hidden file `.{name}.meta.json` holds the metadata of the file `{name}`.
#[derive(Clone, Debug)]
pub(crate) struct StoredKnowledgeFile {
    pub(crate) scope: KnowledgeScope,
    /// Path below the root of the scope.
    pub(crate) path: String,
    pub(crate) content: String,
    pub(crate) uploaded: Moment,
}
