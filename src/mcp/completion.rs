//! Values for what a person types: ids of the templates' variables and of the prompts' arguments, recent ones first.
//!
//! A host asks with every key that is pressed. A list is therefore asked for once and kept for a moment; a failure is
//! kept as an empty list, because nobody who types wants to read it.

mod candidate;
mod source;

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lru::LruCache;
use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionContext, CompletionInfo, Reference},
};

use self::candidate::{Candidate, matching};
pub(super) use self::source::Source;
use super::{Server, resources};
use crate::{
    failure::{Code, Failure},
    service::{result_kind::ResultKind, tool::PROJECT_ID},
};

/// How long a list is good for: as long as somebody types.
const FRESH: Duration = Duration::from_secs(10);

/// How long a list may take: whoever types does not wait longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Most lists that are kept.
const MOST_LISTS: NonZeroUsize = NonZeroUsize::new(32).unwrap();

/// Argument that names the execution which is looked at.
const EXECUTION: &str = ResultKind::Execution.argument();

/// What has been listed a moment ago.
#[derive(Debug)]
pub(super) struct Completion {
    lists: Mutex<LruCache<(Source, Option<String>), Slot>>,
}

/// The place of one list, held while it comes: one request serves all who ask meanwhile, and other lists do not wait.
type Slot = Arc<tokio::sync::Mutex<Option<Listed>>>;

#[derive(Clone, Debug)]
struct Listed {
    at: Duration,
    candidates: Arc<Candidates>,
}

/// A list as far as it was asked for.
#[derive(Debug, Default)]
struct Candidates {
    values: Vec<Candidate>,
    /// Whether the service has more.
    has_more: bool,
}

impl Default for Completion {
    fn default() -> Self {
        Self { lists: Mutex::new(LruCache::new(MOST_LISTS)) }
    }
}

impl Completion {
    fn slot(&self, source: Source, project: Option<String>) -> Slot {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lists.get_or_insert((source, project), Slot::default))
    }
}

impl Server {
    /// The values for what has been typed.
    pub(super) async fn completed(
        &self,
        request: CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        let source = self.source(&request.r#ref, &request.argument.name)?;
        let project = request.context.as_ref().and_then(project);
        let candidates = self.candidates(source, project).await;
        let context = request.context.as_ref();
        // Nothing is compared with itself.
        let given = context
            .and_then(|context| context.get_argument(EXECUTION))
            .filter(|_| source == Source::Baselines);
        let known: Vec<_> =
            candidates.values.iter().filter(|candidate| given != Some(&candidate.value)).collect();
        let (values, count) = matching(&known, &request.argument.value, CompletionInfo::MAX_VALUES);
        let has_more = candidates.has_more || values.len() < count;
        let total = if candidates.has_more { None } else { u32::try_from(count).ok() };
        let info = CompletionInfo::with_pagination(values, total, has_more);

        info.map(CompleteResult::new).map_err(|why| ErrorData::internal_error(why, None))
    }

    /// Where the values of an argument come from.
    fn source(&self, reference: &Reference, argument: &str) -> Result<Source, ErrorData> {
        let selection = &self.0.selection;
        let (what, found) = match reference {
            Reference::Resource(template) => {
                let found =
                    resources::offered(selection).find(|offered| offered.uri_template() == template.uri);
                (&template.uri, found.map(|template| template.source(argument)))
            }
            Reference::Prompt(prompt) => {
                let found = self.offered_prompts().find(|offered| offered.name == prompt.name);
                (&prompt.name, found.map(|prompt| self.prompt_source(prompt, argument)))
            }
            _ => return Err(ErrorData::invalid_params("unknown kind of reference", None)),
        };

        let found =
            found.ok_or_else(|| ErrorData::invalid_params(format!("nothing is called `{what}`"), None))?;

        found.ok_or_else(|| ErrorData::invalid_params(format!("`{what}` has no argument `{argument}`"), None))
    }

    async fn candidates(&self, source: Source, project: Option<String>) -> Arc<Candidates> {
        let clock = self.0.gateway().clock();
        let slot = self.0.completion.slot(source, project.clone());
        let mut listed = slot.lock().await;
        if let Some(known) = listed.as_ref().filter(|known| clock.now().saturating_sub(known.at) < FRESH) {
            return Arc::clone(&known.candidates);
        }

        let listing = source.list(self.0.gateway(), project.as_deref());
        let outcome = tokio::select! {
            outcome = listing => outcome,
            () = clock.alarm(PATIENCE) => Err(too_slow()),
        };
        let candidates = Arc::new(outcome.unwrap_or_else(|failure| {
            tracing::warn!(?source, code = ?failure.code, "nothing to complete with: {failure}");
            Candidates::default()
        }));

        *listed = Some(Listed { at: clock.now(), candidates: Arc::clone(&candidates) });

        candidates
    }
}

/// The project that has been given already.
fn project(context: &CompletionContext) -> Option<String> {
    let given = [resources::PROJECT, PROJECT_ID].into_iter().find_map(|name| context.get_argument(name))?;
    Some(given.clone()).filter(|project| !project.is_empty())
}

fn too_slow() -> Failure {
    Failure::new(Code::Timeout, format!("no list within {} s", PATIENCE.as_secs()))
}
