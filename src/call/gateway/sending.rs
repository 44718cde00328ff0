//! The steps of one call: check, resolve the project, send the request, make the reply.

use indexmap::IndexSet;
use serde_json::Value;

use super::{checking::CheckedCall, configured::ConfiguredGateway, handle::Gateway};
use crate::{
    call::{
        common_arguments::{CommonArguments, ToolArguments},
        context::CallContext,
        operation_request::OperationRequest,
        reply::{self, FieldSelection, Reply, ReplyLimits},
        scope::owned_ids,
    },
    client::{ApiKey, HttpResponse},
    clock::Clock,
    failure::Failure,
    fields::Fields,
    service::{catalog::OperationEntry, operation::UrlBase, result_kind::ResultId, tool::PROJECT_ID},
};

/// A call whose arguments are checked and whose project is known.
#[derive(Clone)]
pub(super) struct PreparedCall<'a> {
    pub(super) request: OperationRequest,
    pub(super) context: CallContext<'a>,
    /// The ids in the arguments that identify the project.
    pub(super) owned_ids: Vec<ResultId>,
    pub(super) project: Option<String>,
    pub(super) selection: Option<FieldSelection>,
    /// The answer, if the owner look-up has already sent the same request.
    pub(super) answer: Option<HttpResponse>,
    pub(super) clock: &'a dyn Clock,
}

impl Gateway {
    /// Calls an operation for another tool.
    ///
    /// # Errors
    /// Every failure of the operation.
    pub async fn call(
        &self,
        entry: &'static OperationEntry,
        arguments: Fields,
        common: CommonArguments,
    ) -> Result<Reply, Failure> {
        let arguments = ToolArguments::new(arguments, common);
        let configured = Box::pin(self.serving_call(entry, &arguments)).await?;

        // The futures of a call are large. Boxed, they do not enlarge the futures of all callers.
        let call = Box::pin(configured.prepare(entry, arguments, &**self.clock())).await?;
        Box::pin(configured.execute(call)).await
    }

    /// Returns the gateway of the key that serves a call.
    ///
    /// # Errors
    /// `permission_denied` if no key may serve the call, or the failure of a look-up.
    pub(super) async fn serving_call(
        &self,
        entry: &'static OperationEntry,
        arguments: &ToolArguments,
    ) -> Result<&ConfiguredGateway, Failure> {
        let requested = arguments.common.project_id.as_deref();
        self.serving(entry, requested, || ids_of_call(entry, &arguments.own)).await
    }
}

/// Returns the ids in the arguments that identify the project of a call.
pub(super) fn ids_of_call(entry: &OperationEntry, arguments: &Fields) -> Vec<ResultId> {
    // The operations of the knowledge host take the ids of players, which contain the id of the run.
    let are_players = entry.request.url_base == UrlBase::Knowledge;
    let ids = owned_ids(arguments).into_iter();
    ids.map(|id| if are_players { id.without_player() } else { id }).collect()
}

impl ConfiguredGateway {
    /// Checks a call and resolves its project.
    ///
    /// # Errors
    /// Those of the checks, and those of [`Scope::resolve`](crate::call::scope::Scope::resolve).
    pub(super) async fn prepare<'a>(
        &'a self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
        clock: &'a dyn Clock,
    ) -> Result<PreparedCall<'a>, Failure> {
        let CheckedCall { mut request, project_id, selection } = self.check_call(entry, arguments)?;
        let context = self.begin_call().await?;
        let owned_ids = ids_of_call(entry, &request.arguments);
        let resolved = self.scope.resolve(&context, entry, project_id.as_deref(), &owned_ids).await?;

        // Some requests carry the project in their path or body. Only these are laid out again.
        if let Some(project) = resolved.project.as_ref().filter(|_| entry.request.names_project()) {
            request.arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
            request = context.request(entry, request.arguments)?;
        }

        let answer = resolved.answer_to(&request);

        Ok(PreparedCall { request, context, owned_ids, project: resolved.project, selection, answer, clock })
    }

    /// Sends the request of a call, unless its answer is already known, and makes the reply.
    ///
    /// # Errors
    /// Every failure of the operation.
    pub(super) async fn execute(&self, call: PreparedCall<'_>) -> Result<Reply, Failure> {
        let PreparedCall { mut request, context, owned_ids: ids, project, selection, answer, clock } = call;
        let mut answer = match answer {
            Some(answer) => answer,
            None => match context.send_successfully(&request, project.as_deref()).await {
                Ok(answer) => answer,
                Err(failure) => {
                    // Boxed, because a call that succeeds needs no memory for this request.
                    let with_record =
                        Box::pin(self.with_current_record(failure, &request, &context, project.as_deref()));
                    return Err(with_record.await);
                }
            },
        };
        self.attempts.record_service_time(answer.date, clock);

        // A part of a picture cannot be decoded, so that the complete file is requested.
        if let Some(arguments) = reply::full_picture_arguments(request.entry, &request.arguments, &answer) {
            request = context.request(request.entry, arguments)?;
            answer = Box::pin(context.send_successfully(&request, project.as_deref())).await?;
        }

        let takes_pages = request.entry.takes_pages();
        let conversion = Conversion { request, answer, key: context.key.clone(), selection };
        let (mut reply, found_ids) = self.convert(conversion).await?;
        if let Some(project) = &project {
            // The project has answered for these ids, so that it owns them.
            self.scope.remember_owner(project, ids);
            self.scope.remember_owner(project, found_ids);
        }

        if takes_pages {
            reply.add_next_page();
        }

        Ok(reply.with_decoded_pictures(context.deadline).await.with_project(project))
    }

    /// Converts an answer into a reply and the ids in it.
    pub(super) async fn convert(
        &self,
        conversion: Conversion,
    ) -> Result<(Reply, IndexSet<ResultId>), Failure> {
        let ReplyLimits { max_reply_chars, address_policy, .. } = self.reply_limits();
        let tmsys_name = self.tmsys_name.clone();

        reply::off_thread(conversion.answer.body.len(), move || {
            conversion.run(&ReplyLimits { tmsys_name: &tmsys_name, max_reply_chars, address_policy })
        })
        .await
    }
}

/// What is needed to convert an answer into a reply.
pub(super) struct Conversion {
    pub(super) request: OperationRequest,
    pub(super) answer: HttpResponse,
    pub(super) key: ApiKey,
    pub(super) selection: Option<FieldSelection>,
}

impl Conversion {
    fn run(self, limits: &ReplyLimits<'_>) -> Result<(Reply, IndexSet<ResultId>), Failure> {
        let mut reply = Reply::new(&self.request, &self.answer, &self.key, limits)?;
        // The selection may leave the ids out.
        let ids = reply.value().as_object().map(owned_ids).unwrap_or_default();
        if let Some(selection) = self.selection {
            reply.select(selection);
        }

        Ok((reply, ids))
    }
}
