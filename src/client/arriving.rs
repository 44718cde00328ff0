//! Files as streams: asked for from where an earlier attempt ended, and read piece by piece, whatever their size.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use reqwest::{Response, Url};

use super::{
    Answer, Client, FileMetadata, Request,
    answer::moment,
    expired::has_expired,
    part::{content_range, ranged},
    redirect::Followed,
    transport::{Transport, TransportError, bounded, chain},
};
use crate::{
    client::{ApiKey, is_safe},
    failure::Failure,
};

/// How long a file may give no byte before its connection counts as broken.
const STALLED: Duration = Duration::from_secs(30);

/// What is wanted of a file: what follows its first bytes, if it is the file that they are of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeFrom {
    /// Bytes that are there already.
    pub from: u64,
    /// `ETag` of the file that they are of, as it came.
    pub tag: Option<String>,
}

impl ResumeFrom {
    /// The headers that ask for it. A file that has changed comes whole.
    pub(super) fn headers(&self) -> HeaderMap {
        let tag = self.tag.as_deref().and_then(|tag| HeaderValue::from_str(tag).ok());
        // Without a tag, the rest could be that of another file.
        let Some(tag) = tag.filter(|_| self.from > 0) else { return HeaderMap::new() };
        let mut headers = ranged(&format!("bytes={}-", self.from));
        headers.insert(header::IF_RANGE, tag);
        headers
    }
}

/// What came of asking for a file.
#[derive(Debug)]
pub enum Opened {
    /// It comes.
    File(DownloadStream),
    /// Any other answer, with its whole body.
    Other(Answer),
}

/// A file on its way.
#[derive(Debug)]
pub struct DownloadStream {
    response: Response,
    /// Where it begins in the file.
    pub offset: u64,
    /// Bytes of the whole file, where the answer says.
    pub total: Option<u64>,
    /// `ETag`, as it came.
    pub etag: Option<String>,
    /// When it was made, where the answer says.
    pub modified: Option<SystemTime>,
}

/// Why a file did not come to its end.
#[derive(Debug, thiserror::Error)]
#[error("the connection broke: {0}")]
pub struct Broken(String);

/// No answer came.
#[derive(Debug)]
pub struct OpenError {
    /// Why.
    pub failure: Failure,
    /// Whether it may come the next time.
    pub is_passing: bool,
}

impl Opened {
    pub(super) async fn of(found: Followed) -> Result<Self, TransportError> {
        let Followed { response, is_elsewhere, obstacle } = found;
        let (status, headers) = (response.status(), response.headers().clone());
        let (start, total) = content_range(&headers);

        if obstacle.is_none() && matches!(status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
            let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
            let etag = text(header::ETAG).map(str::to_owned);
            let modified = text(header::LAST_MODIFIED).and_then(moment).map(SystemTime::from);
            let is_whole = status == StatusCode::OK;
            let total = if is_whole { response.content_length() } else { total };
            // A part of nowhere is not the part that was asked for.
            let offset = if is_whole { 0 } else { start.unwrap_or(u64::MAX) };
            return Ok(Self::File(DownloadStream { response, offset, total, etag, modified }));
        }

        let url = response.url().clone();
        let mut answer = Answer::new(status.as_u16(), &url, &headers, bounded(response).await?);
        answer.file = FileMetadata { total, is_elsewhere, obstacle, ..answer.file };

        Ok(Self::Other(answer))
    }
}

impl DownloadStream {
    /// The next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        match tokio::time::timeout(STALLED, self.response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(Broken(chain(&error.without_url()))),
            Err(_) => Err(Broken(format!("no byte came for {} s", STALLED.as_secs()))),
        }
    }
}

impl Client {
    /// Opens a file, once. `listed` is the address that the service names for it: it is tried first, with the key only
    /// where it is one of the service's own host (supplement 12.2).
    pub async fn open(
        &self,
        request: &Request<'_>,
        listed: Option<&str>,
        rest: &ResumeFrom,
        key: &ApiKey,
    ) -> Result<Opened, OpenError> {
        let transport =
            self.transport(request).map_err(|failure| OpenError { failure, is_passing: false })?;
        let headers = rest.headers();
        let own = format!("{}{}", transport.url().as_str(), request.target);
        let listed = listed.filter(|listed| *listed != own).and_then(|listed| Url::parse(listed).ok());

        if let Some(listed) = listed.filter(is_safe) {
            match transport.open(request, Some(&listed), &headers, key).await {
                // The file may have come to another place since it was listed.
                Ok(Opened::Other(answer))
                    if answer.status == 404 || has_expired(answer.status, &answer.body) => {}
                Err(_) if !transport.is_own(&listed) => {}
                opened => return opened.map_err(|error| lost(error, request, key)),
            }
        }

        transport.open(request, None, &headers, key).await.map_err(|error| lost(error, request, key))
    }
}

fn lost(error: TransportError, request: &Request<'_>, key: &ApiKey) -> OpenError {
    let is_passing = error.is_passing();
    OpenError { failure: error.into_failure(request, Some(key), 1), is_passing }
}

impl Transport {
    async fn open(
        &self,
        request: &Request<'_>,
        elsewhere: Option<&Url>,
        headers: &HeaderMap,
        key: &ApiKey,
    ) -> Result<Opened, TransportError> {
        let limit = self.timeout();
        let opening = async { Opened::of(self.begin(request, elsewhere, Some(headers), key).await?).await };
        tokio::time::timeout(limit, opening).await.unwrap_or(Err(TransportError::Timeout(limit)))
    }
}
