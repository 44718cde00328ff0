//! Completion of what a person types: ids for the variables of resource templates and the arguments of prompts, the
//! newest first.
//!
//! A host sends a request for every keystroke. Therefore each list is read once and kept for a few seconds. A list that
//! cannot be read is kept as an empty list, because hosts show an error at every keystroke.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lru::LruCache;
use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference},
};

use super::{
    callers::Callers,
    config::McpConfig,
    prompts::{self, EXECUTION_ARGUMENT},
    resources::{self, PROJECT_VARIABLE},
    value_source::{Candidate, Candidates, ValueSource},
};
use crate::{
    failure::{Code, Failure},
    service::{request::check_segment, tool::PROJECT_ID},
    text::{composed, quoted_argument},
};

/// Time limit of reading a list. Later candidates are useless, because the person has continued to type.
const READ_LIMIT: Duration = Duration::from_secs(3);

/// How long a list is reused. A person usually completes the input within this time.
const FRESH_FOR: Duration = Duration::from_secs(10);

/// Maximum number of lists that are kept.
const MAX_LISTS: NonZeroUsize = NonZeroUsize::new(32).expect("not zero");

/// Completes arguments of prompts and variables of resource templates.
#[derive(Debug)]
pub(super) struct Completer {
    /// The lists that were read a few seconds ago, by source and entered project.
    lists: Mutex<LruCache<(ValueSource, Option<String>), Slot>>,
}

/// The slot of one list. It is locked while the list is read, so that simultaneous requests for one list share one
/// read, and requests for other lists do not wait.
type Slot = Arc<tokio::sync::Mutex<Option<CachedList>>>;

/// A list and the time when it was read.
#[derive(Debug)]
struct CachedList {
    read_at: Duration,
    candidates: Arc<Candidates>,
}

impl Default for Completer {
    fn default() -> Self {
        Self { lists: Mutex::new(LruCache::new(MAX_LISTS)) }
    }
}

impl Completer {
    /// Returns the values for what was typed.
    ///
    /// # Errors
    /// Invalid parameters if there is no such prompt, template, argument or variable.
    pub(super) async fn complete(
        &self,
        request: CompleteRequestParams,
        config: &McpConfig,
        callers: &dyn Callers,
    ) -> Result<CompleteResult, ErrorData> {
        let source = find_source(&request.r#ref, &request.argument.name, config)?;
        let entered = |name: &str| {
            let value = request.context.as_ref()?.get_argument(name)?;
            (!value.is_empty()).then_some(value)
        };
        let project = entered(PROJECT_VARIABLE).or_else(|| entered(PROJECT_ID));
        let candidates = self.candidates(source, project.cloned(), callers).await;

        // A comparison of an execution with itself shows no changes.
        let excluded = entered(EXECUTION_ARGUMENT).filter(|_| source == ValueSource::ComparableExecutions);
        let included = candidates.values.iter().filter(|candidate| Some(&candidate.value) != excluded);
        let matches = find_matches(included, &request.argument.value);
        let values = matches.iter().map(|candidate| candidate.value.clone());
        let values: Vec<_> = values.take(CompletionInfo::MAX_VALUES).collect();

        let has_more = candidates.has_more || values.len() < matches.len();
        // The number of matches among records that were not read is unknown.
        let total = if candidates.has_more { None } else { u32::try_from(matches.len()).ok() };
        let info = CompletionInfo::with_pagination(values, total, has_more);

        info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
    }

    /// Returns the candidates of a list, from the cache or from the service.
    async fn candidates(
        &self,
        source: ValueSource,
        project: Option<String>,
        callers: &dyn Callers,
    ) -> Arc<Candidates> {
        // Nothing is stored for a text that cannot be a project.
        if project.as_deref().is_some_and(|project| check_segment(project).is_err()) {
            return Arc::default();
        }

        // Without usable settings and a key there is nothing to read. Callers without a key share one server.
        let Ok(caller) = callers.first() else { return Arc::default() };
        if caller.key_kind().await.is_err() {
            return Arc::default();
        }
        let clock = caller.clock();
        let slot = self.slot(source, project.clone());
        let mut cached = slot.lock().await;

        let is_fresh = |list: &&CachedList| clock.now().saturating_sub(list.read_at) < FRESH_FOR;
        if let Some(list) = cached.as_ref().filter(is_fresh) {
            return Arc::clone(&list.candidates);
        }

        let outcome = tokio::select! {
            outcome = source.read(project.as_deref(), callers) => outcome,
            () = clock.timeout(READ_LIMIT) => {
                Err(Failure::new(Code::Timeout, format!("no list within {} s", READ_LIMIT.as_secs())))
            }
        };
        let candidates = Arc::new(outcome.unwrap_or_else(|failure| {
            tracing::warn!(?source, code = ?failure.code, "no values to complete with: {failure}");
            Candidates::default()
        }));

        // A failure is cached, too: otherwise every keystroke would send a request.
        *cached = Some(CachedList { read_at: clock.now(), candidates: Arc::clone(&candidates) });
        candidates
    }

    fn slot(&self, source: ValueSource, project: Option<String>) -> Slot {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lists.get_or_insert((source, project), Slot::default))
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
        Some(None) => Err(ErrorData::invalid_params(
            format!("`{}` has no argument `{}`", quoted_argument(name), quoted_argument(argument)),
            None,
        )),
        None => {
            Err(ErrorData::invalid_params(format!("no prompt or template `{}`", quoted_argument(name)), None))
        }
    }
}

/// Returns the candidates that match `typed`. Those whose value begins with it come before those with a name that
/// contains it.
fn find_matches<'a>(candidates: impl Iterator<Item = &'a Candidate>, typed: &str) -> Vec<&'a Candidate> {
    let typed = composed(typed.trim()).to_lowercase();
    let (mut matches, others): (Vec<_>, Vec<_>) =
        candidates.partition(|candidate| candidate.value.to_lowercase().starts_with(&typed));

    let has_name = |candidate: &&Candidate| candidate.names.iter().any(|name| name.contains(&typed));
    matches.extend(others.into_iter().filter(has_name));
    matches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Caller;

    #[tokio::test(start_paused = true)]
    async fn nothing_is_stored_for_a_text_that_cannot_be_a_project() {
        let callers = Ok(Caller::of_no_service());
        let completer = Completer::default();

        for (project, stored) in [("x".repeat(4 << 20), 0), ("demo".to_owned(), 1)] {
            completer.candidates(ValueSource::Runs, Some(project), &callers).await;
            assert_eq!(completer.lists.lock().expect("no panic").len(), stored);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_stored_for_a_caller_without_a_key() {
        let callers = Ok(Caller::without_key());
        let completer = Completer::default();
        completer.candidates(ValueSource::Runs, None, &callers).await;
        assert!(completer.lists.lock().expect("no panic").is_empty());
    }

    #[test]
    fn values_that_begin_with_the_typed_text_come_before_matching_names() {
        let candidates = [("b1", "alpha a"), ("A2", "beta"), ("c3", "gamma")].map(|(value, name)| {
            Candidate { value: value.to_owned(), names: vec![name.to_owned()], created_at: None }
        });

        for (typed, expected) in [
            (" a ", &["A2", "b1", "c3"][..]),
            ("bet", &["A2"]),
            ("BET", &["A2"]),
            ("", &["b1", "A2", "c3"]),
            ("x", &[]),
        ] {
            let matches = find_matches(candidates.iter(), typed);
            let values: Vec<_> = matches.iter().map(|candidate| candidate.value.as_str()).collect();
            assert_eq!(values, expected, "{typed}");
        }
    }
}
