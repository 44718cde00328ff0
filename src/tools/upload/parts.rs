//! The parts of an upload: which of them the storage host has, and how the others are sent, several at a time, each with
//! attempts of its own (service.md 10.6).
//!
//! An equal upload continues from the state, also in another process. The state contains no API key and no presigned address. It
//! is one JSON file in the user's state directory, whose name follows from the file, the service, the project and the arguments.
//! It is replaced after each part and removed at the end.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::{
    UploadIds, UploadJob,
    source::{SourceFile, hexadecimal},
};
use crate::{
    backoff::AttemptError,
    client::StorageError,
    failure::{Code, Failure},
    service::api::uploads::InitiatedUpload,
    text::filled,
    tools::files::sleep_until,
};

/// Number of parts that are sent at the same time (service.md 10.6: 3 to 5).
const PARALLEL_PARTS: usize = 4;

/// Number of addresses of one request (service.md 10.5: 3 to 10).
const BATCH_SIZE: usize = 8;

/// An unfinished upload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UploadState {
    /// Path of the file, for users who read the state.
    path: PathBuf,
    /// Size and times of the file, which change with its content.
    stamp: String,
    size: u64,
    pub(super) ids: UploadIds,
    /// Size of each part in bytes; the last part may be shorter.
    part_size: u64,
    /// The `ETag`s of the parts that the storage host has, by part number.
    pub(super) etags: BTreeMap<u64, String>,
    /// Address of an upload in one piece.
    #[serde(skip)]
    pub(super) upload_url: Option<String>,
}

impl UploadState {
    /// Reads the answer to the initiation, which decides how the bytes are sent (service.md 10.4).
    ///
    /// # Errors
    /// `bad_response` if a field is missing or the number of parts does not match the size.
    pub(super) fn new(source: &SourceFile, answer: &InitiatedUpload) -> Result<Self, Failure> {
        let text = |field: &Option<String>| field.as_deref().and_then(filled);
        let missing = |name: &str| unusable_answer(&format!("lacks `{name}`"));
        let mut ids = UploadIds::of(answer);
        let (size, mut part_size, mut upload_url) = (source.size(), source.size(), None);

        // Only multipart uploads have an `upload_id`.
        let is_single_part =
            text(&answer.upload_type).map_or(ids.upload_id.is_none(), |kind| kind == "single-part");
        if is_single_part {
            upload_url = Some(text(&answer.upload_url).ok_or_else(|| missing("upload_url"))?);
            ids.upload_id = None;
        } else {
            part_size = answer.part_size.ok_or_else(|| missing("part_size"))?;
            let total_parts = answer.total_parts.ok_or_else(|| missing("total_parts"))?;
            if part_size == 0 || size.div_ceil(part_size) != total_parts {
                return Err(unusable_answer(&format!(
                    "states {total_parts} parts of {part_size} bytes, which does not match the {size} bytes of the file"
                )));
            }
            if ids.upload_id.is_none() {
                return Err(missing("upload_id"));
            }
        }
        if ids.build_id.is_empty() {
            return Err(missing("build_id"));
        }
        if ids.object_key.is_empty() {
            return Err(missing("object_key"));
        }

        let (path, stamp, etags) = (source.path().to_owned(), source.stamp(), BTreeMap::new());
        Ok(Self { path, stamp, size, ids, part_size, etags, upload_url })
    }

    /// Returns whether the upload can be continued: the file is the same, and is sent in parts.
    pub(super) fn can_continue(&self, source: &SourceFile) -> bool {
        self.stamp == source.stamp() && self.is_multipart()
    }

    pub(super) fn is_multipart(&self) -> bool {
        self.ids.upload_id.is_some()
    }

    pub(super) fn total_parts(&self) -> u64 {
        self.size.div_ceil(self.part_size.max(1))
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing_parts().is_empty()
    }

    pub(super) fn missing_parts(&self) -> Vec<u64> {
        (1..=self.total_parts()).filter(|number| !self.etags.contains_key(number)).collect()
    }

    /// Returns the bytes of part `number`, counted from 1.
    pub(super) fn part_range(&self, number: u64) -> Range<u64> {
        let start = number.saturating_sub(1).saturating_mul(self.part_size).min(self.size);
        start..start.saturating_add(self.part_size).min(self.size)
    }
}

fn unusable_answer(problem: &str) -> Failure {
    Failure::new(Code::BadResponse, format!("initiate_build_upload: the service's answer {problem}"))
        .hint("nothing was uploaded; try again later")
}

/// The file of a state.
#[derive(Debug)]
pub(super) struct StateFile(Option<PathBuf>);

impl StateFile {
    /// Returns the file of the upload that `key` identifies. Without a directory nothing is recorded.
    pub(super) fn new(directory: Option<&Path>, key: [&str; 4]) -> Self {
        let name = format!("{}.json", hexadecimal(digest(&SHA256, key.join("\n").as_bytes())));
        Self(directory.map(|directory| directory.join(name)))
    }

    /// Returns the recorded upload. A damaged file records none.
    pub(super) fn read(&self) -> Option<UploadState> {
        serde_json::from_slice(&fs::read(self.0.as_ref()?).ok()?).ok()
    }

    /// Records the upload. A process that ends leaves the old state or the new one.
    pub(super) fn write(&self, state: &UploadState) {
        if let Some(path) = &self.0
            && let Err(error) = replace(path, state)
        {
            tracing::warn!("the upload cannot be continued if the process ends: {error}");
        }
    }

    pub(super) fn remove(&self) {
        if let Some(path) = &self.0 {
            // The error is ignored: the service tells the next upload that this one has ended.
            drop(fs::remove_file(path));
        }
    }
}

fn replace(path: &Path, state: &UploadState) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(state)?)?;
    file.persist(path)?;
    Ok(())
}

impl UploadJob {
    /// Sends the parts that are not in `state`, and records each there. After [`Self::pause_at`] no further part is begun.
    pub(super) async fn send_parts(&self, state: &mut UploadState, file: &StateFile) -> Result<(), Failure> {
        let upload = state.clone();
        let missing = state.missing_parts();
        let batches: Vec<_> = missing.chunks(BATCH_SIZE).map(<[u64]>::to_vec).collect();

        // Addresses expire, so that the next batch is requested only when the last one is used up.
        let addresses = stream::iter(batches)
            .then(|numbers| self.session.part_addresses(&upload, numbers))
            .boxed()
            .map_ok(|batch| stream::iter(batch.into_iter().map(Ok::<_, Failure>)))
            .try_flatten();
        let sending = addresses
            .take_until(sleep_until(self.pause_at))
            .map_ok(|(number, address)| self.send_part(&upload, number, address))
            .try_buffer_unordered(PARALLEL_PARTS);

        let mut sent = sending.boxed();
        while let Some((number, etag)) = sent.try_next().await? {
            state.etags.insert(number, etag);
            file.write(state);
        }

        Ok(())
    }

    /// Sends part `number` until the storage host accepts it. Returns its number and its `ETag`.
    async fn send_part(
        &self,
        upload: &UploadState,
        number: u64,
        mut address: String,
    ) -> Result<(u64, String), Failure> {
        let mut attempts = self.session.timing.retries.start();

        loop {
            match self.try_send(upload, number, &address).await {
                Ok(etag) => return Ok((number, etag)),
                Err(error) => self.session.pause_after(error, &mut attempts).await?,
            }
            // An address can expire before its part is sent.
            let renewed = self.session.part_addresses(upload, vec![number]).await?;
            address = renewed.into_iter().next().map_or(address, |(_, renewed)| renewed);
        }
    }

    /// Sends part `number` once.
    async fn try_send(
        &self,
        upload: &UploadState,
        number: u64,
        address: &str,
    ) -> Result<String, AttemptError> {
        self.source.check_unchanged()?;

        let range = upload.part_range(number);
        let size = range.end - range.start;
        let sent = Arc::<AtomicU64>::default();
        let body = self.part_body(range, Arc::clone(&sent));
        let limit = self.session.timing.stall_limit;

        let outcome = tokio::select! {
            outcome = self.storage.put(address, body, size) => outcome,
            () = stall(&sent, limit) => {
                Err(StorageError::transient(format!("no byte was accepted for {} s", limit.as_secs())))
            }
        };
        let error = match outcome {
            Ok(etag) => return Ok(etag),
            Err(error) => error,
        };

        self.progress.take_back(sent.load(Relaxed));
        // A body whose file cannot be read looks like a broken connection.
        self.source.check_unchanged()?;

        let gets_address = upload.is_multipart() && error.is_expired;
        let mut error = error.into_attempt_error(&format!("part {number} could not be stored"));
        error.failure = error.failure.detail("part_number", number);
        error.is_transient |= gets_address;
        Err(error)
    }

    /// Returns the body of a part, which is never in memory as a whole. `sent` counts its bytes.
    fn part_body(&self, range: Range<u64>, sent: Arc<AtomicU64>) -> reqwest::Body {
        let (source, progress) = (self.source.clone(), Arc::clone(&self.progress));

        reqwest::Body::wrap_stream(stream::try_unfold(range.start, move |start| {
            let (source, progress, sent) = (source.clone(), Arc::clone(&progress), Arc::clone(&sent));
            async move {
                if start >= range.end {
                    return Ok::<_, io::Error>(None);
                }
                let chunk = source.read_chunk(start, range.end).await?;
                let size = chunk.len() as u64;
                sent.fetch_add(size, Relaxed);
                progress.add_transferred(size);
                Ok(Some((chunk, start + size)))
            }
        }))
    }
}

/// Waits until no byte was sent during a period of `limit`.
async fn stall(sent: &AtomicU64, limit: Duration) {
    let mut previous = None;

    loop {
        let current = sent.load(Relaxed);
        if previous == Some(current) {
            return;
        }
        previous = Some(current);
        tokio::time::sleep(limit).await;
    }
}
