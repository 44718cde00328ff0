//! Downloads a picture into memory.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::selection::PictureSource;
use crate::{
    backoff::Backoff,
    call::gateway::{Artifact, OpenRefusal},
    client::{MAX_RESPONSE_BYTES, ResumeFrom},
    failure::{Code, Failure},
    tools::project_client::ProjectClient,
};

/// Pauses between attempts.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(250), Duration::from_secs(1), 2.0);

/// Maximum number of attempts for one picture.
const ATTEMPTS: usize = 3;

/// Longest pause that the service may ask for. A page does not wait longer for one picture.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Downloads a picture.
///
/// # Errors
/// The failure of the last attempt, or `too_large` for a file of more than [`MAX_RESPONSE_BYTES`].
pub(super) async fn load(client: &ProjectClient, source: &PictureSource) -> Result<Bytes, Failure> {
    if let Some(size) = source.file.size {
        check_size(source, size)?;
    }

    let mut pauses = BACKOFF.pauses().take(ATTEMPTS - 1);
    loop {
        let refusal = match load_once(client, source).await {
            Ok(bytes) => return Ok(bytes),
            Err(refusal) => refusal,
        };

        match pauses.next() {
            Some(pause) if refusal.is_transient => {
                let pause = refusal.wait.unwrap_or(pause).min(LONGEST_PAUSE);
                client.gateway.clock().sleep(pause).await;
            }
            _ => return Err(refusal.failure),
        }
    }
}

async fn load_once(client: &ProjectClient, source: &PictureSource) -> Result<Bytes, OpenRefusal> {
    let artifact = Artifact {
        project: client.project.clone(),
        run_id: source.player_id.clone(),
        filename: source.file.filename.clone(),
        url: source.file.url.clone(),
    };
    let mut stream = client.gateway.open(&artifact, &ResumeFrom::default()).await?;
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
                let failure = Failure::new(Code::ServiceUnavailable, message);
                return Err(OpenRefusal { failure, is_transient: true, wait: None });
            }
        }
    }
}

/// # Errors
/// `too_large` if a picture of `size` bytes is not loaded.
fn check_size(source: &PictureSource, size: u64) -> Result<(), Failure> {
    if size <= MAX_RESPONSE_BYTES as u64 {
        return Ok(());
    }

    let message = format!("`{}` is larger than {MAX_RESPONSE_BYTES} bytes", source.file.filename);
    Err(Failure::new(Code::TooLarge, message))
}
