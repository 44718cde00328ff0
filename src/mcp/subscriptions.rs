//! Notifications about runs, jobs and executions: a host that subscribes to their resources hears of each change of state,
//! until the record is completed.
//!
//! A host of the revision 2026-07-28 listens with a request that lasts (`subscriptions/listen`). A host of an older revision
//! subscribes with `resources/subscribe`, for which it needs a session: standard input and output.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::join_all;
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{ErrorCode, ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::{RequestContext, SubscriptionContext, SubscriptionSink},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
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
    sessions: Arc<SessionSubscriptions>,
}

/// The ends of the subscriptions with `resources/subscribe`, by URI.
#[derive(Debug, Default)]
struct SessionSubscriptions(Mutex<BTreeMap<String, CancellationToken>>);

impl SessionSubscriptions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Receives the notifications.
enum Listener {
    /// A request that lasts.
    Request(SubscriptionSink),
    /// A session.
    Session(Peer<RoleServer>),
}

impl Listener {
    /// Says that the resource has changed. Returns whether the host can still be told.
    async fn notify(&self, uri: &str) -> bool {
        match self {
            Self::Request(sink) => sink.notify_resource_updated(uri).await.is_ok(),
            Self::Session(peer) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_ok()
            }
        }
    }
}

impl Subscriptions {
    pub(super) fn new(runner: ToolRunner, profile: Arc<ServerProfile>) -> Self {
        let places = Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS));
        Self { runner, profile, places, sessions: Arc::default() }
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

    /// Subscribes the session to a record.
    ///
    /// # Errors
    /// No session, no record with this URI that can be watched or read, or too many subscriptions.
    pub(super) async fn subscribe(
        &self,
        uri: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if context.extensions.get::<WithoutSession>().is_some() {
            let message =
                "a server over HTTP keeps no sessions: use the revision 2026-07-28, and subscriptions/listen";
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
        if self.sessions.lock().contains_key(&uri) {
            return Ok(());
        }

        let record = self.find(&uri)?;
        let place = self.take_places(1)?;
        let watch = tokio::select! {
            watch = self.open_and_read(record) => watch,
            () = context.ct.cancelled() => Err(Failure::new(Code::Cancelled, "cancelled by the caller")),
        };
        let watch = watch.map_err(|failure| resources::read_error(&uri, failure, &self.profile.config))?;

        let end = CancellationToken::new();
        match self.sessions.lock().entry(uri.clone()) {
            Entry::Occupied(_) => return Ok(()),
            Entry::Vacant(entry) => drop(entry.insert(end.clone())),
        }
        self.start(watch, uri, Listener::Session(context.peer.clone()), end, place);
        Ok(())
    }

    /// Ends a subscription of the session, if there is one.
    pub(super) fn unsubscribe(&self, uri: &str) {
        if let Some(end) = self.sessions.lock().remove(uri) {
            end.cancel();
        }
    }

    /// Starts the task of a subscription. It ends with the record, the subscription, the session and the server.
    fn start(
        &self,
        watch: Watch,
        uri: String,
        listener: Listener,
        end: CancellationToken,
        place: OwnedSemaphorePermit,
    ) {
        let (runner, sessions) = (self.runner.clone(), Arc::clone(&self.sessions));
        tokio::spawn(async move {
            tokio::select! {
                outcome = follow(watch, &uri, &listener) => log_end(outcome),
                () = end.cancelled() => {}
                () = runner.stopped() => {}
            }

            // After a cancellation, the URI may belong to another subscription.
            if !end.is_cancelled() {
                sessions.lock().remove(&uri);
            }
            drop(place);
        });
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
