//! Progress of a call, for hosts that asked to be told.

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::sync::mpsc;

use crate::tools::caller::ProgressSink;

/// Takes what there is to tell; [`ProgressForwarder`] sends it.
#[derive(Debug)]
pub(super) struct ProgressSender {
    sender: mpsc::UnboundedSender<(u64, u64, String)>,
    is_wanted: bool,
}

impl ProgressSink for ProgressSender {
    fn progress(&self, done: u64, total: u64, told: &str) {
        // A call that has ended tells nothing more.
        drop(self.sender.send((done, total, told.to_owned())));
    }

    fn is_there(&self) -> bool {
        self.is_wanted
    }
}

/// Sends notifications while the call is under way.
#[derive(Debug)]
pub(super) struct ProgressForwarder {
    heard: mpsc::UnboundedReceiver<(u64, u64, String)>,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// What was told last; every value has to be more than the one before.
    last: Option<f64>,
}

/// How much more is told where nothing more is done.
const A_LITTLE: f64 = 0.0001;

/// Both ends for one call.
pub(super) fn of(context: &RequestContext<RoleServer>) -> (ProgressSender, ProgressForwarder) {
    let (sender, heard) = mpsc::unbounded_channel();
    let token = context.meta.get_progress_token();
    (
        ProgressSender { sender, is_wanted: token.is_some() },
        ProgressForwarder { heard, peer: context.peer.clone(), token, last: None },
    )
}

impl ProgressForwarder {
    /// Waits for `call`, and tells meanwhile. Nothing is told after its end.
    pub(super) async fn until<T>(mut self, call: impl Future<Output = T>) -> T {
        let mut call = std::pin::pin!(call);
        loop {
            tokio::select! {
                ended = &mut call => return ended,
                Some((done, total, told)) = self.heard.recv() => self.tell(done, total, told).await,
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the protocol has no other number")]
    async fn tell(&mut self, done: u64, total: u64, told: String) {
        let Some(token) = self.token.clone() else { return };
        let done = self.last.map_or(done as f64, |last| (done as f64).max(last + A_LITTLE));
        self.last = Some(done);

        let mut progress = ProgressNotificationParam::new(token, done);
        progress.total = Some(total as f64);
        progress.message = Some(told);

        if let Err(error) = self.peer.notify_progress(progress).await {
            tracing::debug!("progress could not be told: {error}");
        }
    }
}
