//! The pictures of a report: screenshots that are downloaded and scaled, up to a size limit.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use serde_with::skip_serializing_none;
use tokio::task::spawn_blocking;
use tokio_util::bytes::{Bytes, BytesMut};

use super::screenshots::{Screenshot, select};
use crate::{
    backoff::{AttemptError, Backoff, RetryPolicy},
    call::{Artifact, LONG_WORK, paging::MAX_CONCURRENT_REQUESTS},
    client::{MAX_RESPONSE_BYTES, ResumeFrom},
    failure::{Code, Failure},
    picture::{self, Picture},
    service::api::{
        Id,
        runs::{GetRun, RunHead},
    },
    tools::{project_client::ProjectClient, summary::TestResult, unread::Unread},
};

/// Largest number of runs whose records are read for their pictures.
const MAX_RUNS: usize = 100;

/// Largest number of pictures that one page shows, so that small pictures do not cause thousands of requests.
const MAX_PICTURES: usize = 400;

/// Largest width of a picture, in pixels.
const WIDTH: u32 = 640;

/// Largest width of the pictures of a page that has few, in pixels: small print stays readable.
const LARGE_WIDTH: u32 = 1_280;

/// Largest number of pictures with [`LARGE_WIDTH`].
const FEW: usize = 12;

/// Size of the other fields of a picture in the data of the page, in bytes.
const FIELD_BYTES: usize = 300;

/// Time limit for all pictures of a page.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Attempts to download a picture.
const RETRIES: RetryPolicy = RetryPolicy {
    attempts: 3,
    backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(1), 2.0),
};

/// Longest pause that the service may ask for. A page does not wait longer for one picture.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The pictures of a report, with the field names that the script of the page reads.
#[derive(Debug, Default, Serialize)]
pub(super) struct PictureAlbum {
    pub(super) items: Vec<ReportPicture>,
    /// Pictures that could not be loaded, or that did not fit.
    #[serde(skip_serializing_if = "Unread::is_empty")]
    pub(super) unread: Unread,
}

/// A picture of a report.
#[skip_serializing_none]
#[derive(Debug, Default, Serialize)]
pub(super) struct ReportPicture {
    pub(super) run_id: String,
    pub(super) player: usize,
    pub(super) step: Option<usize>,
    /// Whether it is the last screenshot of the player.
    end: bool,
    /// Address of the file at the service, which needs the key.
    #[serde(skip)]
    pub(super) url: String,
    width: Option<u32>,
    height: Option<u32>,
    /// The picture as a `data:` URI; `None` if the report has links only.
    src: Option<String>,
}

impl PictureAlbum {
    /// Loads the pictures of runs, those of failed runs first, with at most `max_bytes` bytes of Base64 text; `None` for links
    /// only.
    pub(super) async fn of_runs(
        client: &ProjectClient,
        runs: Vec<RunHead>,
        max_bytes: Option<usize>,
    ) -> Self {
        // A run has no files before it is completed.
        let mut runs: Vec<_> =
            runs.into_iter().map(TestResult::from_run).filter(TestResult::is_finished).collect();
        runs.sort_by_key(TestResult::has_passed);
        let further = runs.len().saturating_sub(MAX_RUNS);
        runs.truncate(MAX_RUNS);

        let mut unread = Unread::default();
        let screenshots = screenshots_of(client, runs, &mut unread).await;
        let mut album = Self::load(client, screenshots, max_bytes).await;
        album.unread.extend(unread);
        if further > 0 {
            let why = format!("a report has pictures of {MAX_RUNS} runs");
            album.unread.cut(&format!("{further} runs"), &why);
        }

        album
    }

    /// Loads pictures in this order until they have `max_bytes` bytes of Base64 text; `None` for links only.
    pub(super) async fn load(
        client: &ProjectClient,
        screenshots: Vec<Screenshot>,
        max_bytes: Option<usize>,
    ) -> Self {
        let Some(max_bytes) = max_bytes else {
            return Self {
                items: screenshots.iter().map(ReportPicture::linked).collect(),
                ..Self::default()
            };
        };

        let total = screenshots.len();
        let mut loading = Loading { left: total, ..Loading::default() };
        let limit = client.caller.clock().timeout(TIME_LIMIT);
        let why = tokio::select! {
            biased;
            end = loading.load_all(client, screenshots, max_bytes) => end,
            () = limit => format!("they were not loaded in {} s", TIME_LIMIT.as_secs()),
        };
        if loading.left > 0 {
            loading.album.unread.cut(&format!("{} of {total} pictures", loading.left), &why);
        }

        loading.album
    }
}

/// The pictures that were loaded so far.
#[derive(Debug, Default)]
struct Loading {
    album: PictureAlbum,
    /// Number of pictures that were not tried.
    left: usize,
}

impl Loading {
    /// Downloads some pictures at the same time, and scales one after the other. Returns why it ended before the last one, if it
    /// did.
    async fn load_all(
        &mut self,
        client: &ProjectClient,
        screenshots: Vec<Screenshot>,
        max_bytes: usize,
    ) -> String {
        let width = if screenshots.len() <= FEW { LARGE_WIDTH } else { WIDTH };
        let mut remaining = max_bytes;
        let mut downloads = stream::iter(screenshots.into_iter().take(MAX_PICTURES))
            .map(|screenshot| async move { (download(client, &screenshot).await, screenshot) })
            .buffered(MAX_CONCURRENT_REQUESTS);

        while let Some((downloaded, screenshot)) = downloads.next().await {
            let scaled = match downloaded {
                Ok(bytes) => scale(&screenshot, bytes, width).await,
                // Without the setting, no other picture can be loaded either.
                Err(failure) if failure.code == Code::NotConfigured => return failure.message,
                Err(failure) => Err(failure),
            };

            match scaled.map(|picture| ReportPicture::embedded(&screenshot, &picture)) {
                Ok(picture) => {
                    let size = picture.src.as_ref().map_or(0, String::len) + FIELD_BYTES;
                    if size > remaining {
                        break;
                    }
                    remaining -= size;
                    self.album.items.push(picture);
                }
                Err(failure) => {
                    let Screenshot { file, player_id, .. } = &screenshot;
                    let name = format!("`{}` of {player_id}", file.filename);
                    self.album.unread.add("picture", name, &failure);
                }
            }
            self.left -= 1;
        }

        "the size of the report is limited".to_owned()
    }
}

impl ReportPicture {
    fn linked(screenshot: &Screenshot) -> Self {
        Self {
            run_id: screenshot.run_id.clone(),
            player: screenshot.player,
            step: screenshot.step,
            end: screenshot.is_end,
            url: screenshot.file.url.clone(),
            ..Self::default()
        }
    }

    fn embedded(screenshot: &Screenshot, picture: &Picture) -> Self {
        let src = format!("data:{};base64,{}", picture.mime_type, BASE64_STANDARD.encode(&picture.data));
        let (width, height) = (Some(picture.width), Some(picture.height));
        Self { width, height, src: Some(src), ..Self::linked(screenshot) }
    }
}

/// Reads the full records of runs. Returns their screenshots, those of failed steps first. The records are not kept, because
/// they are long.
async fn screenshots_of(
    client: &ProjectClient,
    runs: Vec<TestResult>,
    unread: &mut Unread,
) -> Vec<Screenshot> {
    let runs = runs.into_iter().filter_map(|run| Some((run.has_passed(), run.run_id?)));
    let mut reads = stream::iter(runs)
        .map(|(has_passed, run_id)| async move {
            let run = client.call(&GetRun { run_id: Id(run_id.clone()) }).await;
            (run.map(|run| (has_passed, select(&run_id, &run.view::<GetRun>(), &[]))), run_id)
        })
        .buffered(MAX_CONCURRENT_REQUESTS);

    let mut found = Vec::new();
    while let Some((read, run_id)) = reads.next().await {
        match read {
            Ok((has_passed, screenshots)) => {
                found.extend(screenshots.into_iter().map(|one| (has_passed, one)));
            }
            Err(failure) => unread.add("run", run_id, &failure),
        }
    }

    // The sort is stable, so that the runs keep their order, and those that passed the order of their screenshots.
    found.sort_by_key(|(has_passed, screenshot)| (*has_passed, !has_passed && screenshot.step.is_none()));
    found.into_iter().map(|(_, screenshot)| screenshot).collect()
}

/// Downloads a screenshot into memory.
///
/// # Errors
/// The failure of the last attempt, or `too_large` for a file of more than [`MAX_RESPONSE_BYTES`].
pub(crate) async fn download(client: &ProjectClient, screenshot: &Screenshot) -> Result<Bytes, Failure> {
    check_size(screenshot, screenshot.file.size.unwrap_or_default())?;

    let mut attempts = RETRIES.start();
    loop {
        match download_once(client, screenshot).await {
            Ok(bytes) => return Ok(bytes),
            Err(error) => attempts.pause_after(error, &**client.caller.clock(), LONGEST_PAUSE).await?,
        }
    }
}

async fn download_once(client: &ProjectClient, screenshot: &Screenshot) -> Result<Bytes, AttemptError> {
    let artifact = Artifact {
        project: client.project.clone(),
        run_id: screenshot.player_id.clone(),
        filename: screenshot.file.filename.clone(),
        url: Some(screenshot.file.url.clone()).filter(|url| !url.is_empty()),
    };
    let mut stream = client.caller.open(&artifact, &ResumeFrom::default()).await?;
    let mut bytes = BytesMut::new();

    // A body without a stated length can end early without an error. The decoder finds that it is incomplete.
    while let Some(chunk) = stream.chunk().await.map_err(|error| {
        let message = format!("`{}`: {error}", artifact.filename);
        AttemptError::transient(Failure::new(Code::ServiceUnavailable, message))
    })? {
        check_size(screenshot, (bytes.len() + chunk.len()) as u64)?;
        bytes.extend_from_slice(&chunk);
    }

    Ok(bytes.freeze())
}

fn check_size(screenshot: &Screenshot, size: u64) -> Result<(), Failure> {
    if size <= MAX_RESPONSE_BYTES as u64 {
        return Ok(());
    }

    let message = format!("`{}` is larger than {MAX_RESPONSE_BYTES} bytes", screenshot.file.filename);
    Err(Failure::new(Code::TooLarge, message))
}

/// Decodes and scales a picture.
async fn scale(screenshot: &Screenshot, bytes: Bytes, width: u32) -> Result<Picture, Failure> {
    // The permit stays with the thread, which continues if the caller is cancelled.
    let permit = LONG_WORK.acquire().await;
    // Decoding needs a thread of its own: it keeps the processor busy, and a decoder that panics must not end the call.
    let scaling = spawn_blocking(move || {
        let _permit = permit;
        picture::thumbnail(&bytes, width)
    });

    let scaled = match scaling.await {
        Ok(scaled) => scaled.map_err(|error| error.to_string()),
        Err(_) => Err("it could not be decoded".to_owned()),
    };
    scaled.map_err(|why| {
        let message = format!("`{}` of {}: {why}", screenshot.file.filename, screenshot.player_id);
        Failure::new(Code::BadResponse, message)
    })
}
