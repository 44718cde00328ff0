//! Limits of requests, of one credential or address, and of all clients: how many at the same time, and how many per second. A
//! request beyond them, or one that cannot be served for another reason, ends with a refusal.

use std::{borrow::Cow, collections::BTreeMap, net::IpAddr, num::NonZeroU32, sync::Arc, time::Duration};

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonRpcError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    failure::{Code, Failure},
    service::tool::ToolDefinition,
    settings::HttpSettings,
    tools::composite::{CompositeTool as _, WaitForCompletion},
};

/// How many waits, calls for pictures and long messages all clients have at the same time.
const ALL: [(Kind, usize); 3] = [
    // A wait may take hours.
    (Kind::Wait, 256),
    // The others wait meanwhile for the processor.
    (Kind::PictureCall, 64),
    // The values of a message take up to twenty times the memory of its text.
    (Kind::LongMessage, 4),
];

/// One client has at most this part of them, but one at least.
const SHARE: usize = 8;

/// How many seconds of the allowed rate may arrive at once.
const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(3).expect("not zero");

/// What takes a place of its client, and one of all clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Request,
    Wait,
    PictureCall,
    LongMessage,
}

impl Kind {
    /// The place that a call of the tool takes beside that of a request; `None` for most tools.
    pub(super) fn of_tool(tool: &ToolDefinition) -> Option<Self> {
        let kind = if tool.name == WaitForCompletion::NAME { Self::Wait } else { Self::PictureCall };
        (kind == Self::Wait || tool.has_pictures).then_some(kind)
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Request => "requests",
            Self::Wait => "waits",
            Self::PictureCall => "calls for pictures",
            Self::LongMessage => "long messages",
        }
    }
}

/// The places of one client or of all clients.
#[derive(Debug)]
pub(super) struct Places(BTreeMap<Kind, Arc<Semaphore>>);

/// A place among those of a client, and one among those of all clients.
pub(super) type Place = [OwnedSemaphorePermit; 2];

impl Places {
    pub(super) fn of_all(settings: &HttpSettings) -> Self {
        Self::new(settings.max_calls, 1)
    }

    fn new(requests: NonZeroU32, share: usize) -> Self {
        let requests = usize::try_from(requests.get()).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let parts = ALL.map(|(kind, all)| (kind, (all / share).max(1)));
        let counts = parts.into_iter().chain([(Kind::Request, requests)]);
        Self(counts.map(|(kind, count)| (kind, Arc::new(Semaphore::new(count)))).collect())
    }

    fn take(&self, kind: Kind) -> Option<OwnedSemaphorePermit> {
        Arc::clone(self.0.get(&kind)?).try_acquire_owned().ok()
    }
}

/// The limits of one client: a credential, or an address without an accepted credential.
#[derive(Debug)]
pub(super) struct ClientLimits {
    places: Places,
    rate: DefaultDirectRateLimiter,
}

impl ClientLimits {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        let burst = settings.rate.saturating_mul(BURST_SECONDS);
        let quota = Quota::per_second(settings.rate).allow_burst(burst);
        Self { places: Places::new(settings.concurrency, SHARE), rate: RateLimiter::direct(quota) }
    }

    /// Counts a request, before any work is done for it.
    pub(super) fn count_request(&self) -> Result<(), Exceeded> {
        self.rate.check().map_err(|until| {
            let pause = until.wait_time_from(DefaultClock::default().now());
            Exceeded::Rate(pause.as_secs() + 1)
        })
    }

    /// Takes a place of each kind among those of this client and of `all` clients, until what they are for has ended.
    pub(super) fn admit(
        &self,
        kinds: impl IntoIterator<Item = Kind>,
        all: &Places,
    ) -> Result<Vec<Place>, Exceeded> {
        let take = |kind| {
            let of_client = self.places.take(kind).ok_or(Exceeded::Client(kind))?;
            Ok([of_client, all.take(kind).ok_or(Exceeded::AllClients(kind))?])
        };
        kinds.into_iter().map(take).collect()
    }
}

/// Returns the address whose limits a client without an accepted credential has. A network with IPv6 gives each client 2^64
/// addresses (RFC 4291, 2.5.1), which have one limit together.
pub(super) fn limited_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}

/// A limit that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// Too many requests per second. Holds the number of seconds to wait.
    Rate(u64),
    Client(Kind),
    AllClients(Kind),
}

impl Exceeded {
    /// The HTTP status of a refusal.
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::AllClients(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Rate(_) | Self::Client(_) => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// Number of seconds after which a client may repeat the request. A wait holds its place for long.
    pub(super) fn pause_seconds(self) -> u64 {
        match self {
            Self::Rate(seconds) => seconds,
            Self::Client(Kind::Wait) | Self::AllClients(Kind::Wait) => 30,
            Self::Client(_) | Self::AllClients(_) => 1,
        }
    }

    pub(super) fn message(self) -> String {
        let of_client = "with this credential or from this address";
        let simultaneous = |kind: Kind| format!("too many simultaneous {}", kind.plural());
        match self {
            Self::Rate(_) => format!("too many requests per second {of_client}"),
            Self::Client(kind) => format!("{} {of_client}", simultaneous(kind)),
            Self::AllClients(kind) => format!("the server is busy: {} of all clients", simultaneous(kind)),
        }
    }

    pub(super) fn refusal(self) -> Refusal {
        Refusal::new(self.status(), self.message()).header(header::RETRY_AFTER, self.pause_seconds().into())
    }

    /// Returns the result of a call of a tool: an error that the model reads.
    pub(super) fn tool_result(self) -> CallToolResult {
        let failure = Failure::new(Code::RateLimited, self.message())
            .hint("wait as long as `details.retry_after_s` says, and call again; nothing was sent")
            .retry_after(Duration::from_secs(self.pause_seconds()));
        CallToolResult::error(vec![ContentBlock::text(failure.to_json())])
    }
}

/// Why a request is not served, with the response for it. The body is a JSON-RPC error: a client that gets another body
/// with status 400 takes the server for one of an older revision.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: Cow<'static, str>,
    pub(super) header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// Creates a refusal with a message for the operator of the client.
    pub(super) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into(), header: None }
    }

    pub(super) fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }
}

/// The reason of a refusal, in the extensions of its response, for the log.
#[derive(Clone, Debug)]
pub(super) struct Reason(pub(super) Cow<'static, str>);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = ErrorData::invalid_request(self.message.clone(), None);
        let mut response = (self.status, Json(JsonRpcError::new(None, error))).into_response();
        response.headers_mut().extend(self.header);
        response.extensions_mut().insert(Reason(self.message));
        response
    }
}
