//! Dispatch of tool calls: operations to the gateway, composite tools to their implementation.

use std::sync::Arc;

use crate::{
    call::{
        CheckedArguments, Gateway, Grant,
        arguments::ToolArguments,
        reply::{FieldSelection, Reply},
        shared_store::SharedStore,
    },
    client::ApiKey,
    clock::Clock,
    failure::Failure,
    service::{catalog::OperationEntry, result_kind::ResultId},
    tools::{
        call_options::CallOptions,
        catalog::{ListedTool, Tool, ToolCall},
        composite::{CompositeTool, SummarizeResults, WaitForCompletion, run_typed},
        config::ToolsConfig,
        context::ToolContext,
        name_search::{NameSearch, NameSearchAnswer},
        newest::{self, WantedRecords},
        project_client::ProjectClient,
        summary::{Summary, SummaryTarget},
        upload::{FileServices, FilesConfig},
        waiting::WaitReply,
    },
};

/// Calls tools. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    gateway: Gateway,
    files: Arc<FileServices>,
}

impl Dispatcher {
    /// Creates a dispatcher. If `config` is a failure, every call returns this failure.
    pub fn new(config: Result<ToolsConfig, Failure>) -> Self {
        let (call, files) = match config {
            Ok(ToolsConfig { call, files }) => (Ok(call), files),
            // The defaults are never used, because every call returns the failure first.
            Err(failure) => (Err(failure), FilesConfig::default()),
        };
        Self { gateway: Gateway::new(call), files: Arc::new(FileServices::new(files)) }
    }

    /// Returns the same dispatcher with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { gateway: self.gateway.with_clock(clock), ..self }
    }

    /// Returns the same dispatcher with a store that it shares with other processes.
    #[must_use]
    pub fn with_shared_store(self, store: Arc<dyn SharedStore>) -> Self {
        Self { gateway: self.gateway.with_shared_store(store), ..self }
    }

    /// Returns a dispatcher for calls with another key. The dispatchers share connections, but nothing that they remember
    /// about calls.
    #[must_use]
    pub fn with_key(&self, key: ApiKey) -> Self {
        Self { gateway: self.gateway.with_key(key), files: Arc::clone(&self.files) }
    }

    /// Returns a dispatcher for the calls of a signed-in person, which the keys of `grants` serve. The dispatchers share
    /// connections, but nothing that they remember about calls.
    #[must_use]
    pub fn with_grants(&self, principal: &str, grants: &[Grant]) -> Self {
        Self { gateway: self.gateway.with_grants(principal, grants), files: Arc::clone(&self.files) }
    }

    /// Returns a dispatcher for the same key and another project scope; `None` is global scope.
    #[must_use]
    pub fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        Self { gateway: self.gateway.with_scope(project, is_read_only), files: Arc::clone(&self.files) }
    }

    /// Returns the gateway for calls of operations.
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Returns the shared services of tools that read or write local files.
    ///
    /// # Errors
    /// The failure that says why the settings are unusable.
    pub fn files(&self) -> Result<&Arc<FileServices>, Failure> {
        self.gateway.settings_failure().map_or(Ok(&self.files), |problem| Err(problem.clone()))
    }

    /// Calls a tool. A call that repeats a call of unknown outcome is not sent before the service has been asked
    /// whether the earlier call happened.
    ///
    /// # Errors
    /// Every failure of the tool.
    pub async fn call_tool(
        &self,
        tool: Tool,
        arguments: ToolArguments,
        options: CallOptions,
    ) -> Result<Reply, Failure> {
        let (gateway, files) = (self.gateway.clone(), Arc::clone(&self.files));
        tool.run(ToolCall { gateway, files, arguments, options }).await
    }

    /// Reads all pages of a list and returns the newest records, as `{data, total_count, unread}`. `arguments` selects
    /// records, but no page.
    ///
    /// # Errors
    /// The violations of the arguments, and the failure of the first page.
    pub async fn list_newest(
        &self,
        list: &'static OperationEntry,
        arguments: ToolArguments,
        wanted: WantedRecords,
    ) -> Result<Reply, Failure> {
        let checked = self.gateway.check(list, arguments)?;
        newest::list_newest(&self.gateway, list, checked, wanted).await
    }

    /// Returns the id of the latest result of a plan or a test.
    ///
    /// # Errors
    /// `not_found` if there is no result, and the failures of the list.
    pub async fn latest_result(
        &self,
        target: &SummaryTarget,
        project: Option<&str>,
    ) -> Result<ResultId, Failure> {
        target.find(&self.gateway, project).await
    }

    /// Searches for records by their names. The project is `None` if the settings or the key decide it.
    ///
    /// # Errors
    /// The failure of the first list, if no list could be read.
    pub async fn find_by_name(
        &self,
        search: NameSearch,
        project: Option<&str>,
    ) -> Result<NameSearchAnswer, Failure> {
        let client = ProjectClient { gateway: self.gateway.clone(), project: project.map(str::to_owned) };
        search.run(client, &CallOptions::silent()).await
    }

    /// Calls `wait_for_completion` and returns its typed reply.
    ///
    /// # Errors
    /// Every failure of the tool.
    pub async fn wait_for_completion(
        &self,
        arguments: ToolArguments,
        options: CallOptions,
    ) -> Result<WaitReply, Failure> {
        let call = self.call_typed::<WaitForCompletion>(arguments, options);
        let (completion, selection) = call.await?;

        Ok(WaitReply { completion, selection })
    }

    /// Calls `summarize_results` and returns its typed answer, whatever fields the arguments select.
    ///
    /// # Errors
    /// Every failure of the tool.
    pub async fn summarize_results(
        &self,
        arguments: ToolArguments,
        options: CallOptions,
    ) -> Result<Summary, Failure> {
        let call = self.call_typed::<SummarizeResults>(arguments, options);
        call.await.map(|(summary, _)| summary)
    }

    /// Calls the composite tool `T`. Returns its answer, and the fields that the caller selected.
    async fn call_typed<T: CompositeTool + ListedTool>(
        &self,
        arguments: ToolArguments,
        options: CallOptions,
    ) -> Result<(T::Answer, Option<FieldSelection>), Failure> {
        let CheckedArguments { own, project_id, selection } = self.gateway.check(&T::tool(), arguments)?;
        let (gateway, files) = (self.gateway.clone(), Arc::clone(&self.files));
        let context = ToolContext { gateway, files, arguments: own, project: project_id, options };
        let answer = run_typed::<T>(context).await?;

        Ok((answer, selection))
    }
}
