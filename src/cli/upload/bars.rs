//! Bars on standard error, one a file; none when that is no terminal.

use std::{sync::Arc, time::Duration};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::tools::upload::UploadProgress;

/// How often they are drawn.
const INTERVAL: Duration = Duration::from_millis(200);

/// The bars of some uploads.
pub(super) struct Bars {
    all: MultiProgress,
    each: Vec<(ProgressBar, Arc<UploadProgress>)>,
}

impl Bars {
    pub(super) fn new<'a>(uploads: impl Iterator<Item = (&'a str, Arc<UploadProgress>)>) -> Self {
        let all = MultiProgress::new();
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3}% {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let each = uploads.map(|(name, progress)| {
            let bar = ProgressBar::new(progress.total()).with_style(style.clone());
            (all.add(bar).with_prefix(name.to_owned()), progress)
        });

        Self { each: each.collect(), all }
    }

    /// Draws them again and again; does not end.
    pub(super) async fn draw(&self) {
        loop {
            self.update();
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Draws them for the last time.
    pub(super) fn finish(&self) {
        self.update();
        self.each.iter().for_each(|(bar, _)| bar.abandon());
    }

    /// Says something between them.
    pub(super) fn aside<T>(&self, say: impl FnOnce() -> T) -> T {
        self.all.suspend(say)
    }

    fn update(&self) {
        for (bar, progress) in &self.each {
            bar.set_position(progress.sent());
            bar.set_message(progress.describe());
        }
    }
}
