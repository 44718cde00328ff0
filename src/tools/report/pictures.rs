//! The pictures of a report page: screenshots that are downloaded and scaled, up to a size limit.

use std::{mem, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::screenshots::{Screenshot, select};
use crate::{
    backoff::{AttemptError, Backoff, RetryPolicy},
    call::{
        Artifact, Caller, LONG_WORK,
        paging::{MAX_CONCURRENT_REQUESTS, Omission},
    },
    client::{MAX_RESPONSE_BYTES, ResumeFrom},
    failure::{Code, Failure},
    picture::{self, Picture},
    service::api::{
        Id,
        bugs::RunBug,
        runs::{GetRun, RunDetail, RunHead},
    },
    tools::{project_client::ProjectClient, summary::TestResult},
};

/// Largest size of the pictures of one run that a host receives, in bytes of Base64 text.
const MAX_HOST_BYTES: usize = 2_000_000;

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

/// The pictures of a page, with the field names that the script of the page reads.
#[derive(Debug, Default, Serialize)]
pub struct PictureAlbum {
    pub(super) items: Vec<ReportPicture>,
    /// Number of pictures that were left out.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Number of runs whose pictures were not looked up.
    #[serde(skip_serializing_if = "is_zero")]
    left_out_runs: usize,
    /// Pictures that could not be loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<Omission>,
}

/// A picture of a report.
#[derive(Debug, Serialize)]
pub(super) struct ReportPicture {
    pub(super) run_id: String,
    pub(super) player: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) step: Option<usize>,
    /// Whether it is the last screenshot of the player.
    end: bool,
    /// Address of the file at the service, which needs the key.
    #[serde(skip)]
    pub(super) url: String,
    /// The picture itself; `None` if the report has links only.
    #[serde(flatten)]
    embedded: Option<EmbeddedPicture>,
}

/// A picture in the data of a page.
#[derive(Debug, Serialize)]
struct EmbeddedPicture {
    width: u32,
    height: u32,
    /// `data:` URI
    src: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is that of `skip_serializing_if`")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The pictures that could not be loaded, and the reason of the first one.
#[derive(Debug, Default)]
struct LoadFailures {
    count: usize,
    first: Option<String>,
}

impl LoadFailures {
    fn add_many(&mut self, count: usize, why: String) {
        self.count += count;
        self.first.get_or_insert(why);
    }

    fn into_omission(self) -> Option<Omission> {
        let what = if self.count == 1 { "1 picture".to_owned() } else { format!("{} pictures", self.count) };
        self.first.map(|why| Omission { what, why })
    }
}

/// Reads a run and loads its pictures for the view in a host.
pub async fn pictures_for_host(
    caller: &Caller,
    project: Option<&str>,
    run_id: &str,
) -> Result<PictureAlbum, Failure> {
    let client = ProjectClient { caller: caller.clone(), project: project.map(str::to_owned) };
    let run = client.call(&GetRun { run_id: Id(run_id.to_owned()) }).await?.view::<GetRun>();

    Ok(PictureAlbum::of_run(&client, run_id, &run, &[], Some(MAX_HOST_BYTES)).await)
}

impl PictureAlbum {
    /// Loads the pictures of a run whose record and bugs are known, with at most `max_bytes` bytes of Base64 text; `None`
    /// for links only.
    pub(super) async fn of_run(
        client: &ProjectClient,
        run_id: &str,
        run: &RunDetail,
        bugs: &[RunBug],
        max_bytes: Option<usize>,
    ) -> Self {
        Self::load(client, select(run_id, run, bugs), max_bytes).await
    }

    /// Loads the pictures of runs, those of failed runs first, with at most `max_bytes` bytes of Base64 text.
    pub(super) async fn of_runs(
        client: &ProjectClient,
        runs: Vec<RunHead>,
        max_bytes: Option<usize>,
    ) -> Self {
        // A run has no files before it is completed.
        let mut runs: Vec<_> =
            runs.into_iter().map(TestResult::from_run).filter(TestResult::is_finished).collect();
        runs.sort_by_key(TestResult::has_passed);
        let left_out_runs = runs.len().saturating_sub(MAX_RUNS);

        let (sources, unread) = read_sources(client, runs).await;
        let mut album = Self::load(client, sources, max_bytes).await;
        album.left_out_runs = left_out_runs;
        album.unread.extend(unread);

        album
    }

    /// Loads pictures in the order of `sources` until they have `max_bytes` bytes. The others are counted.
    async fn load(client: &ProjectClient, sources: Vec<Screenshot>, max_bytes: Option<usize>) -> Self {
        let Some(max_bytes) = max_bytes else {
            let items = sources.iter().map(|source| ReportPicture::new(source, None)).collect();
            return Self { items, ..Self::default() };
        };

        let mut album = Self { left_out: sources.len(), ..Self::default() };
        let mut failures = LoadFailures::default();

        let limit = client.caller.clock().timeout(TIME_LIMIT);
        let loading = album.add_all(client, sources, max_bytes, &mut failures);
        let is_late = tokio::select! {
            biased;
            () = loading => false,
            () = limit => true,
        };

        if is_late {
            let why = format!("they were not loaded in {} s", TIME_LIMIT.as_secs());
            let what = format!("{} pictures", mem::take(&mut album.left_out));
            album.unread.push(Omission { what, why });
        }
        album.unread.extend(failures.into_omission());

        album
    }

    /// Downloads some pictures at the same time, and scales one after the other.
    async fn add_all(
        &mut self,
        client: &ProjectClient,
        sources: Vec<Screenshot>,
        max_bytes: usize,
        failures: &mut LoadFailures,
    ) {
        let width = if sources.len() <= FEW { LARGE_WIDTH } else { WIDTH };
        let mut remaining = max_bytes;
        let mut downloads = stream::iter(sources.into_iter().take(MAX_PICTURES))
            .map(|source| async move { (download(client, &source).await, source) })
            .buffered(MAX_CONCURRENT_REQUESTS);

        while let Some((downloaded, source)) = downloads.next().await {
            let scaled = match downloaded {
                Ok(bytes) => scale(bytes, width).await.map_err(|why| not_shown(&source, &why)),
                // Without the setting, no other picture can be loaded either.
                Err(failure) if failure.code == Code::NotConfigured => {
                    failures.add_many(mem::take(&mut self.left_out), failure.message);
                    return;
                }
                Err(failure) => Err(failure.message),
            };

            match scaled.map(|picture| EmbeddedPicture::new(&picture)) {
                Ok(picture) => {
                    let size = picture.src.len() + FIELD_BYTES;
                    if size > remaining {
                        return;
                    }
                    remaining -= size;
                    self.items.push(ReportPicture::new(&source, Some(picture)));
                }
                Err(why) => failures.add_many(1, why),
            }
            self.left_out -= 1;
        }
    }
}

impl ReportPicture {
    fn new(source: &Screenshot, embedded: Option<EmbeddedPicture>) -> Self {
        Self {
            run_id: source.run_id.clone(),
            player: source.player,
            step: source.step,
            end: source.is_end,
            url: source.file.url.clone(),
            embedded,
        }
    }
}

impl EmbeddedPicture {
    fn new(picture: &Picture) -> Self {
        let data = BASE64_STANDARD.encode(&picture.data);
        let src = format!("data:{};base64,{data}", picture.mime_type);
        Self { width: picture.width, height: picture.height, src }
    }
}

/// Reads the full records of the first runs. Returns their pictures, those of failed steps first, and what could not be
/// read. The records are not kept, because they are long.
async fn read_sources(client: &ProjectClient, runs: Vec<TestResult>) -> (Vec<Screenshot>, Option<Omission>) {
    let runs = runs.into_iter().take(MAX_RUNS).filter_map(|run| Some((run.has_passed(), run.run_id?)));
    let mut reads = stream::iter(runs)
        .map(|(has_passed, run_id)| async move {
            let run = client.call(&GetRun { run_id: Id(run_id.clone()) }).await;
            (has_passed, run.map(|run| select(&run_id, &run.view::<GetRun>(), &[])))
        })
        .buffered(MAX_CONCURRENT_REQUESTS);
    let (mut of_failed, mut of_passed) = (Vec::new(), Vec::new());
    let mut failures = LoadFailures::default();

    while let Some((has_passed, sources)) = reads.next().await {
        match sources {
            Ok(sources) if has_passed => of_passed.extend(sources),
            Ok(sources) => of_failed.extend(sources),
            Err(failure) => failures.add_many(1, failure.message),
        }
    }

    // The sort is stable, so that the runs keep their order.
    of_failed.sort_by_key(|source| source.step.is_none());
    of_failed.extend(of_passed);
    let what = format!("pictures of {} runs", failures.count);

    (of_failed, failures.first.map(|why| Omission { what, why }))
}

/// Downloads a picture into memory.
///
/// # Errors
/// The failure of the last attempt, or `too_large` for a file of more than [`MAX_RESPONSE_BYTES`].
pub(crate) async fn download(client: &ProjectClient, source: &Screenshot) -> Result<Bytes, Failure> {
    check_size(source, source.file.size.unwrap_or_default())?;

    let mut attempts = RETRIES.start();
    loop {
        match download_once(client, source).await {
            Ok(bytes) => return Ok(bytes),
            Err(error) => attempts.pause_after(error, &**client.caller.clock(), LONGEST_PAUSE).await?,
        }
    }
}

async fn download_once(client: &ProjectClient, source: &Screenshot) -> Result<Bytes, AttemptError> {
    let artifact = Artifact {
        project: client.project.clone(),
        run_id: source.player_id.clone(),
        filename: source.file.filename.clone(),
        url: Some(source.file.url.clone()).filter(|url| !url.is_empty()),
    };
    let mut stream = client.caller.open(&artifact, &ResumeFrom::default()).await?;
    let mut bytes = BytesMut::new();

    loop {
        match stream.chunk().await {
            Ok(Some(chunk)) => {
                check_size(source, (bytes.len() + chunk.len()) as u64)?;
                bytes.extend_from_slice(&chunk);
            }
            // A body without a stated length can end early without an error. The decoder finds that it is incomplete.
            Ok(None) => return Ok(bytes.freeze()),
            Err(error) => {
                let message = format!("`{}`: {error}", source.file.filename);
                return Err(AttemptError::transient(Failure::new(Code::ServiceUnavailable, message)));
            }
        }
    }
}

/// # Errors
/// `too_large` if a picture of `size` bytes is not loaded.
fn check_size(source: &Screenshot, size: u64) -> Result<(), Failure> {
    if size <= MAX_RESPONSE_BYTES as u64 {
        return Ok(());
    }

    let message = format!("`{}` is larger than {MAX_RESPONSE_BYTES} bytes", source.file.filename);
    Err(Failure::new(Code::TooLarge, message))
}

/// Decodes and scales a picture, or returns why this is not possible.
async fn scale(bytes: Bytes, width: u32) -> Result<Picture, String> {
    // The permit stays with the thread, which continues if the caller is cancelled.
    let permit = LONG_WORK.acquire().await;
    // Decoding needs a thread of its own: it keeps the processor busy, and a decoder that panics must not end the call.
    let scaling = spawn_blocking(move || {
        let _permit = permit;
        picture::thumbnail(&bytes, width)
    });

    match scaling.await {
        Ok(scaled) => scaled.map_err(|error| error.to_string()),
        Err(_) => Err("it could not be decoded".to_owned()),
    }
}

fn not_shown(source: &Screenshot, why: &str) -> String {
    Failure::new(Code::BadResponse, format!("`{}` of {}: {why}", source.file.filename, source.player_id))
        .message
}
