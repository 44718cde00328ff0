//! Dispatch of tool calls: operations to the gateway, composite tools to their implementation.

use std::sync::Arc;

use crate::{
    call::{
        common_arguments::ToolArguments,
        gateway::{CheckedArguments, Gateway},
        reply::{FieldSelection, Reply},
    },
    clock::Clock,
    failure::Failure,
    fields::Fields,
    tools::{
        caller::CallerContext,
        catalog::{SUMMARIZE_RESULTS, ToolEntry, WAIT_FOR_COMPLETION},
        composite::{CompositeEntry, CompositeTool, SummarizeResults, WaitForCompletion, run_typed},
        config::ToolsConfig,
        context::ToolContext,
        newest_runs,
        summary::Summary,
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
        tool: ToolEntry,
        arguments: ToolArguments,
        caller: CallerContext,
    ) -> Result<Reply, Failure> {
        match tool {
            ToolEntry::Operation(entry) if newest_runs::is_requested(entry, &arguments.own) => {
                let checked = self.gateway.check(entry, arguments)?;
                newest_runs::read(self.gateway.clone(), checked, &caller).await
            }
            ToolEntry::Operation(entry) => self.gateway.call_guarded(entry, arguments).await,
            ToolEntry::Composite(entry) => self.call_composite(entry, arguments, caller).await,
        }
    }

    /// Calls `wait_for_completion` and returns its typed reply.
    ///
    /// # Errors
    /// Every failure of the tool.
    pub async fn wait_for_completion(
        &self,
        arguments: ToolArguments,
        caller: CallerContext,
    ) -> Result<WaitReply, Failure> {
        let call = self.call_typed::<WaitForCompletion>(&WAIT_FOR_COMPLETION, arguments, caller);
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
        caller: CallerContext,
    ) -> Result<Summary, Failure> {
        let call = self.call_typed::<SummarizeResults>(&SUMMARIZE_RESULTS, arguments, caller);
        call.await.map(|(summary, _)| summary)
    }

    /// Calls the composite tool `T`. Returns its answer, and the fields that the caller selected.
    async fn call_typed<T: CompositeTool>(
        &self,
        entry: &CompositeEntry,
        arguments: ToolArguments,
        caller: CallerContext,
    ) -> Result<(T::Answer, Option<FieldSelection>), Failure> {
        let CheckedArguments { own, project_id, selection } = self.gateway.check(entry, arguments)?;
        let answer = run_typed::<T>(self.context(own, project_id, caller)).await?;

        Ok((answer, selection))
    }

    async fn call_composite(
        &self,
        entry: &'static CompositeEntry,
        arguments: ToolArguments,
        caller: CallerContext,
    ) -> Result<Reply, Failure> {
        let CheckedArguments { own, project_id, selection } = self.gateway.check(entry, arguments)?;
        let context = self.context(own, project_id, caller);
        let mut reply = Reply::from_value(entry.run(context).await?);

        if let Some(selection) = selection {
            reply.select(selection);
        }

        Ok(reply)
    }

    fn context(&self, arguments: Fields, project: Option<String>, caller: CallerContext) -> ToolContext {
        let (gateway, files) = (self.gateway.clone(), Arc::clone(&self.files));
        ToolContext { gateway, files, arguments, project, caller }
    }
}
