//! The scaled pictures of a page, up to a size limit.

use std::{mem, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::{loading::load, selection::PictureSource};
use crate::{
    call::paging::{MAX_CONCURRENT_REQUESTS, Omission},
    failure::{Code, Failure},
    picture::{self, DECODER, Picture},
    tools::project_client::ProjectClient,
};

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

/// The pictures of a page, with the field names that the script of the page reads.
#[derive(Debug, Default, Serialize)]
pub struct PictureAlbum {
    items: Vec<EmbeddedPicture>,
    /// Number of pictures that were left out.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Number of runs whose pictures were not looked up.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) left_out_runs: usize,
    /// Pictures that could not be loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unread: Vec<Omission>,
}

/// A picture in the data of a page.
#[derive(Debug, Serialize)]
struct EmbeddedPicture {
    run_id: String,
    player: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    /// Whether it is the last screenshot of the player.
    end: bool,
    width: u32,
    height: u32,
    /// `data:` URI
    src: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is that of `skip_serializing_if`")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl PictureAlbum {
    /// Loads pictures in the order of `sources` until they have `max_bytes` bytes. The others are counted.
    pub(super) async fn load(client: &ProjectClient, sources: Vec<PictureSource>, max_bytes: usize) -> Self {
        let mut album = Self { left_out: sources.len(), ..Self::default() };
        let mut failures = LoadFailures::default();

        let limit = client.gateway.clock().timeout(TIME_LIMIT);
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
        sources: Vec<PictureSource>,
        max_bytes: usize,
        failures: &mut LoadFailures,
    ) {
        let width = if sources.len() <= FEW { LARGE_WIDTH } else { WIDTH };
        let mut remaining = max_bytes;
        let mut loads = stream::iter(sources.into_iter().take(MAX_PICTURES))
            .map(|source| async move { (load(client, &source).await, source) })
            .buffered(MAX_CONCURRENT_REQUESTS);

        while let Some((loaded, source)) = loads.next().await {
            let scaled = match loaded {
                Ok(bytes) => scale(bytes, width).await.map_err(|why| not_shown(&source, &why)),
                // Without the setting, no other picture can be loaded either.
                Err(failure) if failure.code == Code::NotConfigured => {
                    failures.add_many(mem::take(&mut self.left_out), failure.message);
                    return;
                }
                Err(failure) => Err(failure.message),
            };

            match scaled.map(|picture| EmbeddedPicture::new(&source, &picture)) {
                Ok(picture) => {
                    let size = picture.src.len() + FIELD_BYTES;
                    if size > remaining {
                        return;
                    }
                    remaining -= size;
                    self.items.push(picture);
                }
                Err(why) => failures.add_many(1, why),
            }
            self.left_out -= 1;
        }
    }
}

impl EmbeddedPicture {
    fn new(source: &PictureSource, picture: &Picture) -> Self {
        let data = BASE64_STANDARD.encode(&picture.data);
        Self {
            run_id: source.run_id.clone(),
            player: source.player,
            step: source.step,
            end: source.is_end,
            width: picture.width,
            height: picture.height,
            src: format!("data:{};base64,{data}", picture.mime_type),
        }
    }
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

/// Decodes and scales a picture, or returns why this is not possible.
async fn scale(bytes: Bytes, width: u32) -> Result<Picture, String> {
    // The permit stays with the thread, which continues if the caller is cancelled.
    let permit = DECODER.acquire().await;
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

fn not_shown(source: &PictureSource, why: &str) -> String {
    Failure::new(Code::BadResponse, format!("`{}` of {}: {why}", source.file.filename, source.player_id))
        .message
}
