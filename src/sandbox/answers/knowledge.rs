//! Knowledge files of a project, its agents and its tests (service.md 13).

use super::prelude::*;
use crate::sandbox::model::records::etag;
use crate::sandbox::model::world::{KnowledgeScope, StoredKnowledgeFile};
use crate::service::api::files::{
    IncludeMetadata, KnowledgeFile, KnowledgeListing, KnowledgeMetadata, KnowledgeScopeListing,
    KnowledgeSection, ListAgentKnowledgeFiles, ListKnowledgeFiles, ListProjectKnowledgeFiles,
    ListTestCaseKnowledgeFiles,
};

impl StoredKnowledgeFile {
    fn directory_and_name(&self) -> (&str, &str) {
        let start = self.path.rfind('/').map_or(0, |slash| slash + 1);
        self.path.split_at(start)
    }

    fn to_record(&self, metadata: Option<KnowledgeMetadata>) -> KnowledgeFile {
        KnowledgeFile {
            filename: self.directory_and_name().1.to_owned(),
            path: self.path.clone(),
            size: self.content.len() as u64,
            uploaded: self.uploaded.to_string(),
            etag: etag(&[&self.path, &self.content]),
            metadata,
        }
    }
}

impl Project {
    fn knowledge_files(
        &self,
        scope: &KnowledgeScope,
        with_metadata: Option<IncludeMetadata>,
    ) -> Vec<KnowledgeFile> {
        let in_scope = self.knowledge.iter().filter(|file| file.scope == *scope);
        // A hidden file has the metadata of another file. No listing contains it.
        let mut files: Vec<_> =
            in_scope.filter(|file| !file.directory_and_name().1.starts_with('.')).collect();
        files.sort_by_key(|file| &file.path);

        let is_wanted = with_metadata.unwrap_or_default().0;
        let metadata = |file| is_wanted.then(|| self.metadata_of(file)).flatten();
        files.into_iter().map(|file| file.to_record(metadata(file))).collect()
    }

    fn metadata_of(&self, file: &StoredKnowledgeFile) -> Option<KnowledgeMetadata> {
        let (directory, name) = file.directory_and_name();
        let sidecar = format!("{directory}.{name}.meta.json");
        let sidecar = self.knowledge.iter().find(|one| one.scope == file.scope && one.path == sidecar)?;
        serde_json::from_str(&sidecar.content).ok()
    }

    fn scope_listing(
        &self,
        scope: &KnowledgeScope,
        with_metadata: Option<IncludeMetadata>,
    ) -> Answered<KnowledgeScopeListing> {
        let files = self.knowledge_files(scope, with_metadata);

        KnowledgeScopeListing {
            project_id: self.id.clone(),
            scope: scope.name().to_owned(),
            agent_id: scope.id().filter(|_| matches!(scope, KnowledgeScope::Agent(_))),
            test_case_id: scope.id().filter(|_| matches!(scope, KnowledgeScope::TestCase(_))),
            count: files.len(),
            files,
        }
        .into()
    }
}

impl Answer<ListKnowledgeFiles> for World {
    fn answer(&mut self, request: ListKnowledgeFiles, caller: &Caller) -> AnswerResult<KnowledgeListing> {
        let project = self.project(caller)?;
        let agent = request.agent_id.map(|id| KnowledgeScope::Agent(id.0));
        let test = request.test_case_id.map(|id| KnowledgeScope::TestCase(id.0));

        // The section of the project is always present (service.md 13).
        let scopes = std::iter::once(KnowledgeScope::Project).chain(agent).chain(test);

        let section = |scope: KnowledgeScope| {
            let files = project.knowledge_files(&scope, request.include_metadata);
            KnowledgeSection { scope: scope.name().to_owned(), id: scope.id(), count: files.len(), files }
        };
        let sections: Vec<_> = scopes.map(section).collect();
        let count = sections.iter().map(|section| section.count).sum();

        Ok(KnowledgeListing { project_id: project.id.clone(), count, sections }.into())
    }
}

impl Answer<ListProjectKnowledgeFiles> for World {
    fn answer(
        &mut self,
        request: ListProjectKnowledgeFiles,
        caller: &Caller,
    ) -> AnswerResult<KnowledgeScopeListing> {
        Ok(self.project(caller)?.scope_listing(&KnowledgeScope::Project, request.include_metadata))
    }
}

impl Answer<ListAgentKnowledgeFiles> for World {
    fn answer(
        &mut self,
        request: ListAgentKnowledgeFiles,
        caller: &Caller,
    ) -> AnswerResult<KnowledgeScopeListing> {
        let scope = KnowledgeScope::Agent(request.agent_id.0);
        Ok(self.project(caller)?.scope_listing(&scope, request.include_metadata))
    }
}

impl Answer<ListTestCaseKnowledgeFiles> for World {
    fn answer(
        &mut self,
        request: ListTestCaseKnowledgeFiles,
        caller: &Caller,
    ) -> AnswerResult<KnowledgeScopeListing> {
        let scope = KnowledgeScope::TestCase(request.test_case_id.0);
        Ok(self.project(caller)?.scope_listing(&scope, request.include_metadata))
    }
}
