//! Sending one operation within a call: the key as it is now, the limit of the whole call, and the way round an
//! operation that the service may not have.

use std::{ops::ControlFlow, time::Duration};

use bytes::Bytes;
use tokio::time::Instant;

use crate::{
    call::{
        paging::{self, PAGE_SIZE, Page, ScanEnd},
        reply,
    },
    client::{
        self, ApiKey, DownloadResponse, HttpRequest, HttpResponse, OpenError, RequestKind, ResumeFrom,
        ServiceClient,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        operation::Fallback,
        request,
        tool::Access,
    },
};

/// Largest number of pages that are searched for a record which the service does not return by itself.
const MAX_FALLBACK_PAGES: u64 = 50;

/// What all requests of one call share.
#[derive(Clone, Debug)]
pub struct CallContext<'a> {
    /// Sends the requests.
    pub client: &'a ServiceClient,
    /// The key when the call began.
    pub key: ApiKey,
    /// When the call has to end.
    pub deadline: Instant,
    /// The deployment's word for the test-management system.
    pub tmsys_name: &'a str,
}

impl CallContext<'_> {
    /// Time until it has to end.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The same call, with a part of its time kept back.
    #[must_use]
    pub fn without(&self, kept: Duration) -> Self {
        let now = Instant::now();
        Self { deadline: now + self.left().saturating_sub(kept), ..self.clone() }
    }

    /// Sends an operation with checked arguments to `project`, or without a project. Any status is an answer here.
    pub async fn send(
        &self,
        entry: &'static OperationEntry,
        arguments: &Fields,
        project: Option<&str>,
    ) -> Result<HttpResponse, Failure> {
        let answer = self.send_once(entry, arguments, project).await?;
        let Some(fallback) = entry.request.fallback.filter(|_| matches!(answer.status, 404 | 405)) else {
            return Ok(answer);
        };

        match self.find_in_list(fallback, arguments, project).await? {
            Some(found) => Ok(found),
            None if answer.status == 404 => Ok(answer),
            None => Err(Failure::new(Code::NotFound, format!("{}: not in `{}`", entry.name, fallback.list))),
        }
    }

    /// The answer of an operation as a failure, when it is not one of success.
    pub fn refused(&self, entry: &'static OperationEntry, answer: &HttpResponse) -> Failure {
        client::refusal_failure(&request(entry, &Fields::new(), String::new(), None), answer, &self.key)
    }

    /// Sends an operation; any answer but one of success is a failure.
    pub async fn succeed(
        &self,
        entry: &'static OperationEntry,
        arguments: &Fields,
        project: Option<&str>,
    ) -> Result<HttpResponse, Failure> {
        let answer = self.send(entry, arguments, project).await?;
        if reply::is_success(entry, &answer) {
            return Ok(answer);
        }
        Err(reply::obstacle(entry, &answer).unwrap_or_else(|| self.refused(entry, &answer)))
    }

    /// Opens a file as a stream, once; `listed` is the address that the service names for it.
    pub async fn open(
        &self,
        entry: &'static OperationEntry,
        arguments: &Fields,
        listed: Option<&str>,
        rest: &ResumeFrom,
    ) -> Result<DownloadResponse, OpenError> {
        let layout = request::layout(entry, arguments, self.tmsys_name).map_err(|violations| OpenError {
            failure: Failure::invalid_arguments(entry.name, &violations),
            is_transient: false,
        })?;
        let request = request(entry, arguments, layout.target(None), None);
        self.client.open(&request, listed, rest, &self.key).await
    }

    async fn send_once(
        &self,
        entry: &'static OperationEntry,
        arguments: &Fields,
        project: Option<&str>,
    ) -> Result<HttpResponse, Failure> {
        let layout = request::layout(entry, arguments, self.tmsys_name)
            .map_err(|violations| Failure::invalid_arguments(entry.name, &violations))?;
        let mut request = request(entry, arguments, layout.target(project), layout.body.as_deref());
        request.part = layout.range;
        self.client.send(&request, &self.key, self.deadline).await
    }

    /// Reads the list of `fallback` page by page until it shows the record that `arguments` identify.
    ///
    /// Returns the record as an answer, or `None` if the list does not contain it. If the service refuses the list,
    /// returns that refusal, because it proves nothing about the record.
    async fn find_in_list(
        &self,
        fallback: Fallback,
        arguments: &Fields,
        project: Option<&str>,
    ) -> Result<Option<HttpResponse>, Failure> {
        let Some(list) = catalog::find(fallback.list) else { return Ok(None) };
        let id = arguments.get(fallback.argument);

        let read = |number| async move {
            let arguments = paging::page_arguments(&Fields::new(), number);
            self.send_once(list, &arguments, project).await
        };

        let end = paging::scan(MAX_FALLBACK_PAGES, read, |number, answer| {
            if !answer.is_success() {
                return Ok(ControlFlow::Break(answer));
            }

            let body = serde_json::from_slice(&answer.body).unwrap_or_default();
            let page = Page::parse(list.name, body).map_err(|failure| failure.status(answer.status))?;
            if let Some(record) = page.records.iter().find(|record| record.get(fallback.field) == id) {
                return Ok(ControlFlow::Break(HttpResponse {
                    body: Bytes::from(record.to_string()),
                    ..answer
                }));
            }

            Ok(ControlFlow::Continue(page.records.is_empty() || page.is_last(number)))
        });

        match end.await? {
            ScanEnd::Stopped(answer) => Ok(Some(answer)),
            ScanEnd::LastPage => Ok(None),
            ScanEnd::PageLimit => Err(Failure::new(
                Code::NotFound,
                format!(
                    "the record is not among the newest {} of `{}`",
                    MAX_FALLBACK_PAGES * PAGE_SIZE,
                    list.name
                ),
            )),
        }
    }
}

fn request<'a>(
    entry: &'static OperationEntry,
    arguments: &Fields,
    path_and_query: String,
    body: Option<&'a [u8]>,
) -> HttpRequest<'a> {
    let kind =
        if entry.is_repeatable(arguments) { RequestKind::Repeatable } else { RequestKind::NotRepeatable };
    HttpRequest {
        operation: entry.name,
        url_base: entry.request.url_base,
        has_key: entry.access != Access::NoKey,
        method: entry.request.method.clone(),
        path_and_query,
        body,
        part: None,
        kind,
        recovery_hint: entry.recovery_hint,
    }
}
