//! Knowledge files of a project, its agents and its tests (specification, Knowledge file; supplement 13).

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    clock::Moment,
    ids::etag,
    project::{Dialect, Project},
};
use crate::service::api::knowledge::{
    IncludeMetadata, KnowledgeFile, KnowledgeListing, KnowledgeMetadata, KnowledgeScopeListing,
    KnowledgeSection, ListAgentKnowledgeFiles, ListKnowledgeFiles, ListProjectKnowledgeFiles,
    ListTestCaseKnowledgeFiles,
};

/// What runs have to have in common with a file to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Project,
    Agent(String),
    TestCase(String),
}

impl Scope {
    /// The service's word.
    const fn name(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Agent(_) => "agent",
            Self::TestCase(_) => "test_case",
        }
    }

    fn id(&self) -> Option<String> {
        match self {
            Self::Project => None,
            Self::Agent(id) | Self::TestCase(id) => Some(id.clone()),
        }
    }
}

/// A file in knowledge storage. Hidden ones, `.{name}.meta.json`, say what the file next to them is about.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) scope: Scope,
    /// Below the root of the scope.
    pub(super) path: String,
    pub(super) content: String,
    pub(super) uploaded: Moment,
}

impl Stored {
    fn directory_and_name(&self) -> (&str, &str) {
        let start = self.path.rfind('/').map_or(0, |slash| slash + 1);
        self.path.split_at(start)
    }

    fn is_hidden(&self) -> bool {
        self.directory_and_name().1.starts_with('.')
    }

    fn shown(&self, dialect: Dialect, metadata: Option<KnowledgeMetadata>) -> KnowledgeFile {
        KnowledgeFile {
            filename: self.directory_and_name().1.to_owned(),
            path: self.path.clone(),
            size: self.content.len() as u64,
            uploaded: self.uploaded.to_string(),
            etag: etag(dialect, &[&self.path, &self.content]),
            metadata,
        }
    }
}

impl Project {
    /// The files of a scope by path, with what is written about them where that is wanted.
    fn knowledge_files(&self, scope: &Scope, with_metadata: Option<IncludeMetadata>) -> Vec<KnowledgeFile> {
        let in_scope = self.knowledge.iter().filter(|file| file.scope == *scope);
        let mut files: Vec<_> = in_scope.filter(|file| !file.is_hidden()).collect();
        files.sort_by_key(|file| &file.path);
        let is_wanted = with_metadata.unwrap_or_default().0;
        let metadata = |file| is_wanted.then(|| self.metadata_of(file)).flatten();
        files.into_iter().map(|file| file.shown(self.dialect, metadata(file))).collect()
    }

    fn metadata_of(&self, file: &Stored) -> Option<KnowledgeMetadata> {
        let (directory, name) = file.directory_and_name();
        let sidecar = format!("{directory}.{name}.meta.json");
        let sidecar = self.knowledge.iter().find(|one| one.scope == file.scope && one.path == sidecar)?;
        serde_json::from_str(&sidecar.content).ok()
    }

    fn knowledge_of(
        &self,
        scope: &Scope,
        with_metadata: Option<IncludeMetadata>,
    ) -> Answered<KnowledgeScopeListing> {
        let files = self.knowledge_files(scope, with_metadata);
        KnowledgeScopeListing {
            project_id: self.id.clone(),
            scope: scope.name().to_owned(),
            agent_id: scope.id().filter(|_| matches!(scope, Scope::Agent(_))),
            test_case_id: scope.id().filter(|_| matches!(scope, Scope::TestCase(_))),
            count: files.len(),
            files,
        }
        .into()
    }
}

impl Answer<ListKnowledgeFiles> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListKnowledgeFiles,
        caller: &Caller,
    ) -> Result<Answered<KnowledgeListing>, Fault> {
        let project = self.project(caller)?;
        let agent = asked.agent_id.map(|id| Scope::Agent(id.0));
        let test = asked.test_case_id.map(|id| Scope::TestCase(id.0));
        let scopes = std::iter::once(Scope::Project).chain(agent).chain(test);
        let section = |scope: Scope| {
            let files = project.knowledge_files(&scope, asked.include_metadata);
            KnowledgeSection { scope: scope.name().to_owned(), id: scope.id(), count: files.len(), files }
        };
        let sections: Vec<_> = scopes.map(section).collect();
        let count = sections.iter().map(|section| section.count).sum();

        Ok(KnowledgeListing { project_id: project.id.clone(), count, sections }.into())
    }
}

impl Answer<ListProjectKnowledgeFiles> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListProjectKnowledgeFiles,
        caller: &Caller,
    ) -> Result<Answered<KnowledgeScopeListing>, Fault> {
        Ok(self.project(caller)?.knowledge_of(&Scope::Project, asked.include_metadata))
    }
}

impl Answer<ListAgentKnowledgeFiles> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListAgentKnowledgeFiles,
        caller: &Caller,
    ) -> Result<Answered<KnowledgeScopeListing>, Fault> {
        Ok(self.project(caller)?.knowledge_of(&Scope::Agent(asked.agent_id.0), asked.include_metadata))
    }
}

impl Answer<ListTestCaseKnowledgeFiles> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListTestCaseKnowledgeFiles,
        caller: &Caller,
    ) -> Result<Answered<KnowledgeScopeListing>, Fault> {
        let scope = Scope::TestCase(asked.test_case_id.0);
        Ok(self.project(caller)?.knowledge_of(&scope, asked.include_metadata))
    }
}
