//! Dispatch of tool calls: operations to the gateway, composite tools to their implementation.

use std::sync::Arc;

use crate::{
    call::{
        gateway::{CheckedArguments, Gateway},
        reply::Reply,
    },
    clock::Clock,
    failure::Failure,
    fields::Fields,
    service::tool::Tool,
    tools::{
        caller::CallerContext,
        catalog::{ToolEntry, WAIT_FOR_COMPLETION},
        composite::{CompositeEntry, WaitForCompletion, run_typed},
        config::ToolsConfig,
        context::ToolContext,
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
        arguments: Fields,
        caller: CallerContext,
    ) -> Result<Reply, Failure> {
        match tool {
            ToolEntry::Operation(entry) => self.gateway.call_guarded(entry, arguments).await,
            ToolEntry::Composite(entry) => self.call_composite(entry, arguments, caller).await,
        }
    }

    /// Checks the arguments of a tool that is not called through [`Self::call_tool`]. Returns the project that they
    /// name.
    ///
    /// # Errors
    /// `invalid_arguments` or `confirmation_required`.
    pub fn admit(&self, tool: &Tool, arguments: &mut Fields) -> Result<Option<String>, Failure> {
        let checked = self.gateway.check(tool, std::mem::take(arguments))?;
        *arguments = checked.own;
        Ok(checked.project_id)
    }

    /// Calls `wait_for_completion` and returns its typed reply.
    ///
    /// # Errors
    /// Every failure of the tool.
    pub async fn wait_for_completion(
        &self,
        arguments: Fields,
        caller: CallerContext,
    ) -> Result<WaitReply, Failure> {
        let CheckedArguments { own, project_id, selection } =
            self.gateway.check(&WAIT_FOR_COMPLETION, arguments)?;
        let context = self.context(own, project_id, caller);
        let completion = run_typed::<WaitForCompletion>(context).await?;

        Ok(WaitReply { completion, selection })
    }

    async fn call_composite(
        &self,
        entry: &'static CompositeEntry,
        arguments: Fields,
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
