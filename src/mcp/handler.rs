//! Answers the requests of the protocol.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
        GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
        ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, UpdateTaskParams,
    },
    service::RequestContext,
};
use tracing::Instrument as _;

use super::{
    call_tool::{CallResponse, CallSpan},
    completion::complete,
    report_view, resources,
    revision::{
        CacheableResult as _, STATIC_LIFETIME_MS, WithoutSession, add_server_info, server_info, shared_scope,
    },
    server::Server,
    skills, tasks,
    tool_result::tool_result,
};
use crate::{
    call::arguments::drop_arguments_of_host,
    tools::{
        catalog::{self, Tool},
        selection::Selection,
    },
};

/// Maximum length of a tool name that an error message repeats, in characters.
const QUOTED_NAME_CHARS: usize = 80;

/// Methods whose parameters can be malformed.
const METHODS: [&str; 5] =
    ["tools/call", "prompts/get", "resources/read", "completion/complete", "skills/get"];

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();

        report_view::declare(&mut capabilities, &self.state.config().selection);
        skills::declare(&mut capabilities);
        if self.state.tasks.is_offered() {
            tasks::declare(&mut capabilities);
        }

        ServerConfig::new(capabilities)
            .with_server_info(server_info())
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_instructions(self.state.profile.instructions.clone())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // The library reads the capabilities of the host from this information. All requests over HTTP share one peer.
        if context.extensions.get::<WithoutSession>().is_none() {
            context.peer.set_peer_info(request.clone());
        }

        let mut result = self.negotiate_initialize(&request)?;
        // Revisions with `initialize` have no tasks and no skills.
        tasks::withdraw(&mut result.capabilities);
        skills::withdraw(&mut result.capabilities);
        Ok(result)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        // The instructions name the projects of the settings.
        let names_projects = !self.state.config().known_projects.is_empty();
        let scope = if names_projects { CacheScope::Private } else { shared_scope(&context) };

        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(STATIC_LIFETIME_MS)
            .with_cache_scope(scope))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(request)?;
        let mut tools = self.state.profile.tools().to_vec();
        if context.protocol_version().is_some_and(|version| version < ProtocolVersion::V_2025_06_18) {
            // These revisions have no schemas of answers.
            for tool in &mut tools {
                tool.output_schema = None;
            }
        }

        let list = ListToolsResult::with_all_items(tools);
        Ok(list.for_request(&context, STATIC_LIFETIME_MS, shared_scope(&context)))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let config = self.state.config();
        let tool = find_callable_tool(&config.selection, &request.name)?;
        if let Some(arguments) = &mut request.arguments {
            drop_arguments_of_host(arguments);
        }
        let call = CallSpan::new(tool.info, request.arguments.as_ref());

        // In a box, because the future of a call is large, and what is around it would copy it.
        let answering = Box::pin(self.state.call_or_ask(tool, request, &context));
        let response = answering.instrument(call.span.clone()).await;
        call.end(&response);

        match response {
            CallResponse::InputRequired(mut question) => {
                add_server_info(&context, &mut question.meta);
                Ok((*question).into())
            }
            CallResponse::Task(mut task) => {
                add_server_info(&context, &mut task.meta);
                Ok((*task).into())
            }
            CallResponse::Ended(outcome) => {
                let mut result = tool_result(outcome, config, tool.info);
                add_server_info(&context, &mut result.meta);
                Ok(result.into())
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let mut result = self.state.tasks.get(&request.task_id, &context).await?;
        add_server_info(&context, &mut result.meta);
        Ok(result)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.state.tasks.acknowledge(&request.task_id).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.state.tasks.acknowledge(&request.task_id).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        refuse_cursor(request)?;
        let config = self.state.config();
        let mut resources = resources::list(config);
        resources.extend(report_view::resource(&config.selection));
        resources.extend(self.state.profile.skills().resources.iter().cloned());

        // The URIs name the project of the settings.
        let list = ListResourcesResult::with_all_items(resources);
        Ok(list.for_request(&context, STATIC_LIFETIME_MS, CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(request)?;
        let templates = resources::list_templates(&self.state.config().selection);
        let list = ListResourceTemplatesResult::with_all_items(templates);
        Ok(list.for_request(&context, STATIC_LIFETIME_MS, shared_scope(&context)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let config = self.state.config();
        let runner = &self.state.tool_runner;
        if let Some(view) = report_view::read(&request.uri, config, runner, &context).await {
            return view.map(Into::into);
        }
        if let Some(file) = self.state.profile.skills().read(&request.uri) {
            let scope = shared_scope(&context);
            return file.map(|file| file.for_request(&context, STATIC_LIFETIME_MS, scope).into());
        }

        let record = resources::read(&request.uri, config, runner, &context).await?;
        Ok(record.into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        skills::check_revision(&context)?;
        refuse_cursor(request)?;
        let list = ListSkillsResult::with_all_items(self.state.profile.skills().skills.clone());
        Ok(list.for_request(&context, STATIC_LIFETIME_MS, shared_scope(&context)))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        skills::check_revision(&context)?;
        let skill = self.state.profile.skills().get(&request.uri)?;
        Ok(skill.for_request(&context, STATIC_LIFETIME_MS, shared_scope(&context)))
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        refuse_cursor(request)?;
        let list = ListPromptsResult::with_all_items(skills::list_prompts(self.state.config()));
        Ok(list.for_request(&context, STATIC_LIFETIME_MS, shared_scope(&context)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut result = skills::get_prompt(request, self.state.config())?;
        add_server_info(&context, &mut result.meta);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let state = &self.state;
        let completing = complete(request, state.config(), state.tool_runner.callers());
        let mut result = completing.await?;
        add_server_info(&context, &mut result.meta);
        Ok(result)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        // The library treats a known method with malformed parameters as an unknown one.
        if METHODS.contains(&&*method) {
            return Err(ErrorData::invalid_params(format!("invalid params for `{method}`"), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method `{method}`"), None))
    }
}

/// Finds the tool for calls of `name`.
///
/// # Errors
/// Invalid parameters, with the nearest name, if there is no such tool, or with the setting that excludes the tool.
fn find_callable_tool(selection: &Selection, name: &str) -> Result<Tool, ErrorData> {
    let tool = catalog::find_tool(name).ok_or_else(|| {
        let quoted: String = name.chars().take(QUOTED_NAME_CHARS).collect();
        let suggestion = catalog::nearest_name(name).map(|nearest| format!("; did you mean `{nearest}`?"));
        let message = format!("unknown tool `{quoted}`{}", suggestion.unwrap_or_default());
        ErrorData::invalid_params(message, None)
    })?;

    selection.callable(tool).ok_or_else(|| ErrorData::invalid_params(selection.refusal(tool.info), None))
}

/// Refuses a request for another page: every list of this server has one page, so that no cursor is valid.
fn refuse_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(_) => Err(ErrorData::invalid_params("unknown cursor: the list has one page", None)),
        None => Ok(()),
    }
}
