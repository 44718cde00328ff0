//! Uploads that go on while nobody waits for them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{Errand, Meter, Uploaded};
use crate::{
    failure::{Code, Failure},
    local::Watcher,
};

/// Most uploads that are remembered; the oldest finished ones go first.
const MOST: usize = 100;

/// How often somebody who waits is told how far it has come.
const INTERVAL: Duration = Duration::from_secs(1);

/// How an upload ended.
type Outcome = Result<Uploaded, Failure>;

/// An upload in a task of its own.
#[derive(Clone, Debug)]
pub struct Background {
    meter: Arc<Meter>,
    outcome: watch::Receiver<Option<Outcome>>,
    cancelled: CancellationToken,
}

impl Background {
    /// Runs an errand to its end, whoever waits.
    pub fn spawn(errand: Errand) -> Self {
        let (sender, outcome) = watch::channel(None);
        let (meter, cancelled) = (Arc::clone(errand.meter()), errand.cancelled().clone());
        tokio::spawn(async move {
            let ended = errand.run().await;
            // Nobody may have asked.
            sender.send_replace(Some(ended));
        });
        Self { meter, outcome, cancelled }
    }

    /// How far it has come.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Waits for the end, as long as `patience` lasts. Whoever drops this future before cancels the upload.
    pub async fn finished(&self, watcher: &dyn Watcher, patience: Option<Duration>) -> Option<Outcome> {
        let guard = self.cancelled.clone().drop_guard();
        let mut outcome = self.outcome.clone();
        let end = patience.map(|patience| Instant::now() + patience);
        let mut ticks = tokio::time::interval(INTERVAL);
        let ended = loop {
            tokio::select! {
                ended = outcome.wait_for(Option::is_some) => {
                    break Some(ended.map_or_else(|_| Err(ended_early()), |ended| ended.clone().unwrap_or_else(|| Err(ended_early()))));
                }
                () = at(end) => break None,
                _ = ticks.tick() => watcher.progress(self.meter.sent(), self.meter.total(), &self.meter.told()),
            }
        };
        guard.disarm();
        ended
    }

    fn is_finished(&self) -> bool {
        self.outcome.borrow().is_some()
    }
}

/// The task ended without an outcome.
fn ended_early() -> Failure {
    Failure::new(Code::Cancelled, "upload_build: the upload ended before its time")
        .hint("call again with `path`: it goes on where it ended")
}

async fn at(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// Uploads that were begun, by their tokens.
#[derive(Debug, Default)]
pub struct Uploads(Mutex<BTreeMap<String, Background>>);

impl Uploads {
    /// Remembers an upload; gives its token.
    pub fn remember(&self, upload: Background) -> (String, Background) {
        let token = format!("upload_{}", uuid::Uuid::now_v7().simple());
        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while uploads.len() >= MOST {
            // Tokens begin with the time: the first is the oldest.
            let Some(oldest) =
                uploads.iter().find(|(_, one)| one.is_finished()).map(|(token, _)| token.clone())
            else {
                break;
            };
            uploads.remove(&oldest);
        }
        uploads.insert(token.clone(), upload.clone());
        (token, upload)
    }

    /// The upload of a token.
    pub fn find(&self, token: &str) -> Result<Background, Failure> {
        let uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.get(token).cloned().ok_or_else(|| {
            Failure::new(Code::NotFound, "upload_build: this `upload_token` is not of an upload of this server")
                .hint("call again with `path`: an upload that was cut off is taken up, and a finished one is in `list_builds`")
        })
    }

    /// Forgets an upload whose end was told.
    pub fn forget(&self, token: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }
}
