//! Progress notifications of a call, for requests with a progress token.

use std::{pin::pin, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::{sync::mpsc, time::timeout};

use crate::tools::call_options::ProgressSink;

/// Increment of the reported value if a report has the same value as the report before: the protocol requires that
/// the value increases with each notification.
const SMALLEST_INCREMENT: f64 = 0.0001;

/// Time limit of sending a notification after the end of its call.
const SENDING_LIMIT: Duration = Duration::from_secs(1);

/// The content of one notification.
#[derive(Debug)]
struct ProgressMessage {
    done: u64,
    total: u64,
    message: String,
}

/// The sending end of the channel, which a tool reports to.
#[derive(Debug)]
pub(super) struct ProgressSender {
    reports: mpsc::UnboundedSender<ProgressMessage>,
    is_requested: bool,
}

impl ProgressSink for ProgressSender {
    fn report(&self, done: u64, total: u64, message: &str) {
        // Sending fails only after the end of the call, when no report is expected any more.
        drop(self.reports.send(ProgressMessage { done, total, message: message.to_owned() }));
    }

    fn is_observed(&self) -> bool {
        self.is_requested
    }
}

/// The receiving end of the channel. It sends the reports to the host.
#[derive(Debug)]
pub(super) struct ProgressForwarder {
    reports: mpsc::UnboundedReceiver<ProgressMessage>,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// Value of the last notification.
    last: Option<f64>,
}

pub(super) fn progress_channel(context: &RequestContext<RoleServer>) -> (ProgressSender, ProgressForwarder) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let token = context.meta.get_progress_token();
    let peer = context.peer.clone();

    (
        ProgressSender { reports: sender, is_requested: token.is_some() },
        ProgressForwarder { reports: receiver, peer, token, last: None },
    )
}

impl ProgressForwarder {
    /// Sends the reports of `call` until it ends. A notification that is being sent is sent completely, so that the host gets it
    /// before the answer. A host that does not read delays the end of the call by [`SENDING_LIMIT`] at most.
    pub(super) async fn forward_during<T>(mut self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        loop {
            let report = tokio::select! {
                outcome = &mut call => return outcome,
                Some(report) = self.reports.recv() => report,
            };

            let mut sending = pin!(self.notify(report));
            tokio::select! {
                () = &mut sending => {}
                outcome = &mut call => {
                    timeout(SENDING_LIMIT, sending).await.unwrap_or_default();
                    return outcome;
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the protocol has no other number")]
    async fn notify(&mut self, report: ProgressMessage) {
        let Some(token) = self.token.clone() else { return };
        let done = report.done as f64;
        let done = self.last.map_or(done, |last| done.max(last + SMALLEST_INCREMENT));
        self.last = Some(done);

        let mut notification = ProgressNotificationParam::new(token, done);
        notification.total = Some(report.total as f64);
        notification.message = Some(report.message);

        if let Err(error) = self.peer.notify_progress(notification).await {
            tracing::debug!("a progress notification was not sent: {error}");
        }
    }
}
