//! What the protocol asks of the server, request by request.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
        CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult,
        ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
        UpdateTaskParams,
    },
    service::RequestContext,
};

use super::{CACHE_MS, Outcome, Server, implementation, is_modern, resources, stamp, success, tasks, view};

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        view::announce(&mut capabilities, &self.0.selection);

        if self.offers_tasks() {
            tasks::declare(&mut capabilities);
        }

        ServerConfig::new(capabilities)
            .with_server_info(implementation())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_instructions(self.0.instructions.clone())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // Only a request of the newest revision can become a task.
        tasks::withdraw(&mut result.capabilities);
        Ok(result)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        // The instructions name the project of the settings.
        let scope = if self.0.project.is_some() { CacheScope::Private } else { CacheScope::Public };
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(CACHE_MS)
            .with_cache_scope(scope))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(request)?;
        let mut list = ListToolsResult::with_all_items(self.tools().to_vec());

        if is_modern(&context) {
            list = list.with_ttl_ms(CACHE_MS).with_cache_scope(CacheScope::Public);
            stamp(&mut list.meta);
        }

        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.offered(&request.name)?;
        let mut result = match self.call_or_ask(tool, request, &context).await {
            Outcome::Asks(mut question) => {
                stamp(&mut question.meta);
                return Ok((*question).into());
            }
            Outcome::Task(mut task) => {
                stamp(&mut task.meta);
                return Ok((*task).into());
            }
            Outcome::Ended(Ok(reply)) => success(reply, self.0.max_reply_chars, &tool),
            Outcome::Ended(Err(failure)) => {
                CallToolResult::error(vec![ContentBlock::text(failure.to_json())])
            }
        };

        if is_modern(&context) {
            stamp(&mut result.meta);
        }

        Ok(result.into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(&request.task_id, &context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.acknowledge(&request.task_id)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.cancel(&request.task_id).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        one_page(request)?;
        let mut listed = resources::settled(&self.0.selection, self.0.project.as_deref());
        listed.extend(view::listed(&self.0.selection));

        let mut list = ListResourcesResult::with_all_items(listed);
        if is_modern(&context) {
            // It names the project of the settings.
            list = list.with_ttl_ms(CACHE_MS).with_cache_scope(CacheScope::Private);
            stamp(&mut list.meta);
        }

        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        one_page(request)?;
        let mut list = ListResourceTemplatesResult::with_all_items(resources::templates(&self.0.selection));

        if is_modern(&context) {
            list = list.with_ttl_ms(CACHE_MS).with_cache_scope(CacheScope::Public);
            stamp(&mut list.meta);
        }

        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match view::read(&request.uri, &self.0.selection, &context) {
            Some(view) => Ok(view.into()),
            None => self.read(&request.uri, &context).await.map(Into::into),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        one_page(request)?;
        let mut list = ListPromptsResult::with_all_items(self.listed_prompts());

        if is_modern(&context) {
            list = list.with_ttl_ms(CACHE_MS).with_cache_scope(CacheScope::Public);
            stamp(&mut list.meta);
        }

        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut result = self.prompt(request)?;
        if is_modern(&context) {
            stamp(&mut result.meta);
        }
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let mut result = self.completed(request).await?;
        if is_modern(&context) {
            stamp(&mut result.meta);
        }
        Ok(result)
    }

    /// The library takes a known method with malformed parameters for an unknown one.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 9] = [
            "tools/call",
            "tools/list",
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "prompts/list",
            "prompts/get",
            "completion/complete",
            "server/discover",
        ];

        let method = request.method;
        let is_known = KNOWN.contains(&method.as_str())
            || (self.offers_tasks() && tasks::METHODS.contains(&method.as_str()));

        Err(if is_known {
            ErrorData::invalid_params(format!("invalid params for {method}"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        })
    }
}

/// Every list has one page, so that a cursor is none of ours.
fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(_) => Err(ErrorData::invalid_params("unknown cursor: the list has one page", None)),
        None => Ok(()),
    }
}
