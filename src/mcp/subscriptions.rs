//! Notifications about runs, jobs and executions: a host that subscribes to their resources hears of each change of state,
//! until the record is completed.
//!
//! A host of the revision 2026-07-28 listens with a request that lasts (`subscriptions/listen`). A host of an older revision
//! subscribes with `resources/subscribe`. On standard input and output, its session hears of changes. Over HTTP there are no
//! sessions: the response of the request goes on after the result.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use futures_util::future::join_all;
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerJsonRpcMessage, ServerResult,
        SubscriptionFilter,
    },
    service::{RequestContext, SubscriptionContext, SubscriptionSink},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    profile::ServerProfile,
    resources::{self, WatchedRecord},
    revision::WithoutSession,
    tool_runner::ToolRunner,
};
use crate::{
    call::arguments::{CommonArguments, ToolArguments},
    failure::{Code, Failure},
    tools::waiting::Watch,
};

/// Largest number of records that the hosts of one server watch. Over HTTP, this is a credential at one address.
const MAX_SUBSCRIPTIONS: usize = 50;

/// The subscriptions of the hosts of a server.
#[derive(Debug)]
pub(super) struct Subscriptions {
    runner: ToolRunner,
    profile: Arc<ServerProfile>,
    places: Arc<Semaphore>,
    ends: Ends,
}

/// Sends messages in the response to a request over HTTP, which stays open after the result. It is in the extensions of the
/// request.
#[derive(Clone, Debug)]
pub struct LastingResponse(pub mpsc::Sender<ServerJsonRpcMessage>);

/// The running subscriptions of `resources/subscribe`, so that `resources/unsubscribe` can end them.
#[derive(Debug, Default)]
struct Ends(Mutex<Vec<Weak<End>>>);

/// A running subscription: its record, and the token that ends it.
#[derive(Debug)]
struct End {
    uri: String,
    token: CancellationToken,
    /// Whether no other subscription to the record was running when this one began.
    is_first: bool,
}

impl Ends {
    fn add(&self, uri: &str) -> Arc<End> {
        let mut ends = self.lock();
        ends.retain(|end| end.strong_count() > 0);
        let is_first = Self::of(&ends, uri).next().is_none();

        let end = Arc::new(End { uri: uri.to_owned(), token: CancellationToken::new(), is_first });
        ends.push(Arc::downgrade(&end));
        end
    }

    fn contains(&self, uri: &str) -> bool {
        Self::of(&self.lock(), uri).next().is_some()
    }

    /// Ends the subscriptions to a record.
    fn end(&self, uri: &str) {
        for end in Self::of(&self.lock(), uri) {
            end.token.cancel();
        }
    }

    /// Returns the ends of the subscriptions to a record.
    fn of(ends: &[Weak<End>], uri: &str) -> impl Iterator<Item = Arc<End>> {
        let running = ends.iter().filter_map(Weak::upgrade);
        running.filter(move |end| end.uri == uri && !end.token.is_cancelled())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<End>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Receives the notifications.
enum Listener {
    /// A request of the revision 2026-07-28.
    Request(SubscriptionSink),
    /// A session.
    Session(Peer<RoleServer>),
    /// A response that goes on after its result.
    Response(LastingResponse),
}

impl Listener {
    /// Says that the resource has changed. Returns whether the host can still be told.
    async fn notify(&self, uri: &str) -> bool {
        let changed = ResourceUpdatedNotificationParam::new(uri);
        match self {
            Self::Request(sink) => sink.notify_resource_updated(uri).await.is_ok(),
            Self::Session(peer) => peer.notify_resource_updated(changed).await.is_ok(),
            Self::Response(LastingResponse(messages)) => {
                let notification = ResourceUpdatedNotification::new(changed);
                messages.send(ServerJsonRpcMessage::notification(notification.into())).await.is_ok()
            }
        }
    }
}

impl Subscriptions {
    pub(super) fn new(runner: ToolRunner, profile: Arc<ServerProfile>) -> Self {
        let places = Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS));
        Self { runner, profile, places, ends: Ends::default() }
    }

    /// Returns what of a request to listen is accepted: the records that can be watched, as far as there are places. The
    /// server sends no other notifications. Returns `None` if no record can be watched.
    pub(super) fn accept(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        if !resources::offers_watched(&self.profile.config.selection) {
            return None;
        }

        let places = self.places.available_permits();
        let mut accepted = BTreeSet::new();

        for uri in requested.resource_subscriptions.iter().flatten() {
            if accepted.len() < places && self.find(uri).is_ok() {
                accepted.insert(uri.clone());
            }
        }

        Some(SubscriptionFilter::builder().resource_subscriptions(accepted).build())
    }

    /// Tells the host about changes of the accepted records until all of them are completed, or the request or the server
    /// ends. Nothing is said about a record that the credential cannot read.
    ///
    /// # Errors
    /// Other requests of the host have taken the places in the meantime.
    pub(super) async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        // The library accepts a URI as often as the host asks for it.
        let uris: BTreeSet<_> = accepted.into_iter().collect();
        let _places = self.take_places(uris.len())?;
        let listener = Listener::Request(context.sink().clone());

        let listener = &listener;
        let watching = uris.iter().map(|uri| async move {
            let outcome = match self.find(uri) {
                Ok(record) => match self.open(record).await {
                    Ok(watch) => follow(watch, uri, listener).await,
                    Err(failure) => Err(failure),
                },
                // Only records that can be watched were accepted.
                Err(_) => Ok(()),
            };
            log_end(outcome);
        });

        tokio::select! {
            _ = join_all(watching) => {}
            () = context.cancelled() => {}
            () = self.runner.stopped() => {}
        }
        Ok(())
    }

    /// Subscribes to a record: the session, or over HTTP the request, which then lasts until the subscription ends.
    ///
    /// # Errors
    /// No record with this URI that can be watched or read, too many subscriptions, or a client that accepts no events.
    pub(super) async fn subscribe(
        &self,
        uri: String,
        mut context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let response = context.extensions.remove::<LastingResponse>();
        if context.extensions.get::<WithoutSession>().is_some() {
            let message = "the client must accept text/event-stream to subscribe";
            let response = response.ok_or_else(|| ErrorData::invalid_request(message, None))?;
            return self.subscribe_response(uri, response, context).await;
        }

        if self.ends.contains(&uri) {
            return Ok(());
        }
        let subscription = self.begin(uri, &context).await?;
        // Two equal requests at the same time start one task only.
        if subscription.end.is_first {
            tokio::spawn(subscription.run(Listener::Session(context.peer)));
        }
        Ok(())
    }

    /// Sends the result at once, and then a notification for each change of the record.
    async fn subscribe_response(
        &self,
        uri: String,
        response: LastingResponse,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let subscription = self.begin(uri, &context).await?;
        let result = ServerJsonRpcMessage::response(ServerResult::empty(()), context.id);
        let LastingResponse(messages) = &response;

        if messages.send(result).await.is_ok() {
            tokio::select! {
                () = subscription.run(Listener::Response(response)) => {}
                () = context.ct.cancelled() => {}
            }
        }
        Ok(())
    }

    /// Ends the subscriptions to a record, if there are any.
    pub(super) fn unsubscribe(&self, uri: &str) {
        self.ends.end(uri);
    }

    /// Takes a place for a new subscription, and reads its record.
    async fn begin(
        &self,
        uri: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<Subscription, ErrorData> {
        let record = self.find(&uri)?;
        let place = self.take_places(1)?;
        let watch = tokio::select! {
            watch = self.open_and_read(record) => watch,
            () = context.ct.cancelled() => Err(Failure::new(Code::Cancelled, "cancelled by the caller")),
        };

        let watch = watch.map_err(|failure| resources::read_error(&uri, failure, &self.profile.config))?;
        Ok(Subscription { watch, end: self.ends.add(&uri), runner: self.runner.clone(), _place: place })
    }

    fn find(&self, uri: &str) -> Result<WatchedRecord, ErrorData> {
        resources::find_watched(uri, &self.profile.config.selection)
    }

    /// Opens the watch of a record, for the caller whose key reaches it.
    async fn open(&self, record: WatchedRecord) -> Result<Watch, Failure> {
        let common = CommonArguments::in_project(Some(&record.project));
        let arguments = ToolArguments::new(record.target.to_arguments(), common);
        let caller = self.runner.callers().choose(record.tool.info, &arguments).await?;
        Ok(Watch::new(caller, record.project, record.target))
    }

    async fn open_and_read(&self, record: WatchedRecord) -> Result<Watch, Failure> {
        let mut watch = self.open(record).await?;
        watch.read_once().await?;
        Ok(watch)
    }

    fn take_places(&self, count: usize) -> Result<OwnedSemaphorePermit, ErrorData> {
        let places = u32::try_from(count).unwrap_or(u32::MAX);
        Arc::clone(&self.places).try_acquire_many_owned(places).map_err(|_| {
            let message = format!("at most {MAX_SUBSCRIPTIONS} subscriptions at a time: end others first");
            ErrorData::invalid_request(message, None)
        })
    }
}

/// A subscription with `resources/subscribe`.
struct Subscription {
    watch: Watch,
    end: Arc<End>,
    runner: ToolRunner,
    _place: OwnedSemaphorePermit,
}

impl Subscription {
    /// Tells `listener` about changes until the record is completed, or the subscription, its host or the server ends.
    async fn run(self, listener: Listener) {
        let Self { watch, end, runner, _place } = self;
        tokio::select! {
            outcome = follow(watch, &end.uri, &listener) => log_end(outcome),
            () = end.token.cancelled() => {}
            () = runner.stopped() => {}
        }
    }
}

/// Tells `listener` about each change of a record until the record is completed or the host is gone.
///
/// # Errors
/// The failure that has ended the watch.
async fn follow(mut watch: Watch, uri: &str, listener: &Listener) -> Result<(), Failure> {
    if watch.is_unread() {
        watch.next_change().await?;
    }
    // The host may have read the record before it was completed.
    let mut is_told = !watch.is_completed() || listener.notify(uri).await;

    while is_told && !watch.is_completed() {
        let change = watch.next_change().await;
        // If the service fails for long, a read says so. A credential that has lost its access is told nothing.
        if change.as_ref().err().is_none_or(Failure::is_transient) {
            is_told = listener.notify(uri).await;
        }
        change?;
    }
    Ok(())
}

fn log_end(outcome: Result<(), Failure>) {
    if let Err(failure) = outcome {
        tracing::info!(code = ?failure.code, status = failure.status, "a subscription ended: {failure}");
    }
}
