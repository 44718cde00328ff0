//! Knowledge files of a project, its agents and its tests (supplement 13).

use crate::sandbox::model::moment::Moment;

/// What runs have to have in common with a file to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnowledgeScope {
    Project,
    Agent(String),
    TestCase(String),
}

impl KnowledgeScope {
    /// The service's word.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Agent(_) => "agent",
            Self::TestCase(_) => "test_case",
        }
    }

    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Project => None,
            Self::Agent(id) | Self::TestCase(id) => Some(id.clone()),
        }
    }
}

/// A file in knowledge storage. Hidden ones, `.{name}.meta.json`, say what the file next to them is about.
#[derive(Debug)]
pub(crate) struct StoredKnowledgeFile {
    pub(crate) scope: KnowledgeScope,
    /// Below the root of the scope.
    pub(crate) path: String,
    pub(crate) content: String,
    pub(crate) uploaded: Moment,
}
