//! Answers `completion/complete`.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionContext, CompletionInfo, Reference},
};

use super::{
    cache::{CachedList, CandidateCache},
    candidate::{Candidates, find_matches},
    record_reader::read_candidates,
};
use crate::{
    call::gateway::Gateway,
    failure::{Code, Failure},
    mcp::{
        config::McpConfig,
        prompts::{self, EXECUTION_ARGUMENT},
        resources::{self, PROJECT_VARIABLE},
        value_source::ValueSource,
    },
    service::tool::PROJECT_ID,
};

/// Time limit of reading a list. Later candidates are useless, because the person has continued to type.
const READ_LIMIT: Duration = Duration::from_secs(3);

/// Completes arguments of prompts and variables of resource templates.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Completer {
    cache: CandidateCache,
}

impl Completer {
    /// Returns the values for what was typed.
    ///
    /// # Errors
    /// Invalid parameters if there is no such prompt, template, argument or variable.
    pub(in crate::mcp) async fn complete(
        &self,
        request: CompleteRequestParams,
        config: &McpConfig,
        gateway: &Gateway,
    ) -> Result<CompleteResult, ErrorData> {
        let source = find_source(&request.r#ref, &request.argument.name, config)?;
        let context = request.context.as_ref();
        let candidates = self.candidates(source, context.and_then(project), gateway).await;

        // A comparison of an execution with itself shows no changes.
        let excluded = context
            .and_then(|context| context.get_argument(EXECUTION_ARGUMENT))
            .filter(|_| source == ValueSource::ComparableExecutions);
        let candidates_left: Vec<_> =
            candidates.values.iter().filter(|candidate| excluded != Some(&candidate.value)).collect();
        let (values, count) =
            find_matches(&candidates_left, &request.argument.value, CompletionInfo::MAX_VALUES);

        let has_more = candidates.has_more || values.len() < count;
        // The number of matches among records that were not read is unknown.
        let total = if candidates.has_more { None } else { u32::try_from(count).ok() };
        let info = CompletionInfo::with_pagination(values, total, has_more);

        info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
    }

    /// Returns the candidates of a list, from the cache or from the service.
    async fn candidates(
        &self,
        source: ValueSource,
        project: Option<String>,
        gateway: &Gateway,
    ) -> Arc<Candidates> {
        let clock = gateway.clock();
        let slot = self.cache.slot(source, project.clone());
        let mut cached = slot.lock().await;
        if let Some(list) = cached.as_ref().filter(|list| list.is_fresh(clock.now())) {
            return Arc::clone(&list.candidates);
        }

        let outcome = tokio::select! {
            outcome = read_candidates(source, gateway, project.as_deref()) => outcome,
            () = clock.timeout(READ_LIMIT) => Err(read_timeout()),
        };
        let candidates = outcome.unwrap_or_else(|failure| {
            tracing::warn!(?source, code = ?failure.code, "no values to complete with: {failure}");
            Candidates::default()
        });

        let candidates = Arc::new(candidates);
        // A failure is cached, too: otherwise every keystroke would send a request.
        *cached = Some(CachedList { read_at: clock.now(), candidates: Arc::clone(&candidates) });
        candidates
    }
}

/// Finds the source of the values of an argument.
fn find_source(reference: &Reference, argument: &str, config: &McpConfig) -> Result<ValueSource, ErrorData> {
    let (name, found) = match reference {
        Reference::Resource(template) => {
            let mut offered = resources::offered_templates(&config.selection);
            let found = offered.find(|offered| offered.uri_template() == template.uri);
            (&template.uri, found.map(|template| template.value_source(argument)))
        }
        Reference::Prompt(prompt) => {
            let found = prompts::find_offered(&prompt.name, config);
            (&prompt.name, found.map(|prompt| prompt.value_source(argument, config)))
        }
        _ => return Err(ErrorData::invalid_params("unknown kind of reference", None)),
    };

    match found {
        Some(Some(source)) => Ok(source),
        Some(None) => Err(ErrorData::invalid_params(format!("`{name}` has no argument `{argument}`"), None)),
        None => Err(ErrorData::invalid_params(format!("no prompt or template `{name}`"), None)),
    }
}

/// Returns the project that the person has already entered.
fn project(context: &CompletionContext) -> Option<String> {
    let entered = [PROJECT_VARIABLE, PROJECT_ID].into_iter().find_map(|name| context.get_argument(name));
    entered.filter(|project| !project.is_empty()).cloned()
}

fn read_timeout() -> Failure {
    Failure::new(Code::Timeout, format!("no list within {} s", READ_LIMIT.as_secs()))
}
