//! One request of an operation: what comes before it, and what is made of its answer.

use serde_json::Value;
use tokio::time::Instant;

use super::{Ready, checking::Checked};
use crate::{
    call::{
        context::CallContext,
        reply::{self, Reply, ReplyLimits, Selection},
        scope::owned_ids,
    },
    client::CALL_LIMIT,
    clock::Clock,
    failure::Failure,
    fields::Fields,
    service::{catalog::OperationEntry, operation::UrlBase, result_kind::ResultId, tool::PROJECT_ID},
};

/// A call whose arguments are checked and whose project is known.
#[derive(Clone)]
pub(super) struct Prepared<'a> {
    pub(super) entry: &'static OperationEntry,
    pub(super) call: CallContext<'a>,
    pub(super) arguments: Fields,
    pub(super) ids: Vec<ResultId>,
    pub(super) project: Option<String>,
    pub(super) wanted: Option<Selection>,
    /// The time that the answers are heard in.
    pub(super) clock: &'a dyn Clock,
}

/// The ids that identify the project of a call.
pub(super) fn ids(entry: &OperationEntry, arguments: &Fields) -> Vec<ResultId> {
    // Artifacts belong to players of runs.
    let of_players = entry.request.url_base == UrlBase::Knowledge;
    owned_ids(arguments).into_iter().map(|id| if of_players { id.without_player() } else { id }).collect()
}

impl Ready {
    /// Everything that comes before the request of an operation.
    pub(super) async fn prepared<'a>(
        &'a self,
        entry: &'static OperationEntry,
        mut arguments: Fields,
        clock: &'a dyn Clock,
    ) -> Result<Prepared<'a>, Failure> {
        let Checked { requested, wanted } = self.checked(entry, Some(entry), &mut arguments)?;
        let call = self.call()?;
        let ids = ids(entry, &arguments);
        let project = self.scope.resolve(&call, entry, requested.as_deref(), &ids).await?;

        if let Some(project) = project.as_ref().filter(|_| entry.request.names_project()) {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }

        Ok(Prepared { entry, call, arguments, ids, project, wanted, clock })
    }

    /// Sends the request of an operation and makes a reply of its answer.
    pub(super) async fn sent(&self, prepared: Prepared<'_>) -> Result<Reply, Failure> {
        let Prepared { entry, call, mut arguments, ids, project, wanted, clock } = prepared;
        let mut answer = call.succeed(entry, &arguments, project.as_deref()).await?;
        self.memory.hear(answer.date, clock);

        if let Some(whole) = reply::whole_instead(entry, &arguments, &answer) {
            answer = call.succeed(entry, &whole, project.as_deref()).await?;
            arguments = whole;
        }

        let mut reply = Reply::new(entry, &arguments, &answer, &call.key, &self.within())?;
        if let Some(project) = &project {
            self.scope.learn(project, ids);
            self.scope.learn(project, reply.fields().map(owned_ids).unwrap_or_default());
        }

        if let Some(wanted) = wanted {
            reply.select(wanted);
        }

        if entry.takes_pages() {
            reply.point_to_next_page();
        }

        Ok(reply.with_decoded_pictures(call.deadline).await.with_project(project))
    }

    pub(super) fn within(&self) -> ReplyLimits<'_> {
        ReplyLimits { tmsys_name: &self.tmsys_name, max_reply_chars: self.max_reply_chars }
    }

    /// A call that begins now.
    pub(super) fn call(&self) -> Result<CallContext<'_>, Failure> {
        Ok(CallContext {
            client: &self.client,
            key: self.client.key()?,
            deadline: Instant::now() + CALL_LIMIT,
            tmsys_name: &self.tmsys_name,
        })
    }
}
