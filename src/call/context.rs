//! Client, key and deadline of one call, which all its requests share.
//!
//! Some deployments of the service lack an operation that reads a single record. The record is then read from a list.

use std::{ops::ControlFlow, time::Duration};

use bytes::Bytes;
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    call::{
        operation_request::OperationRequest,
        paging::{self, PAGE_SIZE, Page, ScanEnd},
        reply,
    },
    client::{self, ApiKey, Client, DownloadResponse, HttpResponse, OpenError, PresignedAddress, ResumeFrom},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        operation::Fallback,
    },
};

/// Largest number of pages of a list that are searched for a single record.
const MAX_FALLBACK_PAGES: u64 = 50;

/// What all requests of one call share.
#[derive(Clone, Debug)]
pub struct CallContext<'a> {
    /// Sends the requests.
    pub client: &'a Client,
    /// The key at the start of the call. A replaced key takes effect with the next call.
    pub key: ApiKey,
    /// When the call ends.
    pub deadline: Instant,
    /// The name that the deployment uses for the test-management system.
    pub tmsys_name: &'a str,
}

impl CallContext<'_> {
    /// Returns the time until the deadline.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the same context with a deadline that is earlier by `reserve`.
    #[must_use]
    pub(super) fn reserving(&self, reserve: Duration) -> Self {
        let deadline = Instant::now() + self.remaining().saturating_sub(reserve);
        Self { deadline, ..self.clone() }
    }

    /// Lays out a request of `entry`.
    ///
    /// # Errors
    /// `invalid_arguments` if the arguments make no valid address.
    pub fn request(
        &self,
        entry: &'static OperationEntry,
        arguments: Fields,
    ) -> Result<OperationRequest, Failure> {
        OperationRequest::new(entry, arguments, self.tmsys_name)
    }

    /// Sends a request to `project`, or to the route without a project. Returns the answer whatever its status is.
    ///
    /// # Errors
    /// The failure of the transport, or of the list that replaces the operation.
    pub async fn send(
        &self,
        request: &OperationRequest,
        project: Option<&str>,
    ) -> Result<HttpResponse, Failure> {
        let answer = self.send_without_fallback(request, project).await?;
        let fallback = request.entry.request.fallback.filter(|_| may_lack_operation(answer.status));
        let Some(fallback) = fallback else { return Ok(answer) };

        let id = request.arguments.get(fallback.argument);
        // Boxed, because few operations have a list that replaces them.
        match Box::pin(self.find_in_list(fallback, id, project)).await? {
            Some(found) => Ok(found),
            None if answer.status == 404 => Ok(answer),
            // 405 means that the operation does not exist. It does not mean that the record is missing.
            None => {
                let message = format!("{}: the record is not in `{}`", request.entry.name, fallback.list);
                Err(Failure::new(Code::NotFound, message))
            }
        }
    }

    /// Sends a request and returns its answer if the service has carried it out.
    ///
    /// # Errors
    /// Every failure of [`Self::send`], and the failure that an unsuccessful answer means.
    pub(super) async fn send_successfully(
        &self,
        request: &OperationRequest,
        project: Option<&str>,
    ) -> Result<HttpResponse, Failure> {
        let answer = self.send(request, project).await?;
        if reply::is_success(request.entry, &answer) {
            return Ok(answer);
        }
        Err(self.answer_failure(request, project, &answer))
    }

    /// Returns the failure that an unsuccessful answer means.
    pub(super) fn answer_failure(
        &self,
        request: &OperationRequest,
        project: Option<&str>,
        answer: &HttpResponse,
    ) -> Failure {
        let failure = reply::file_failure(request.entry, answer)
            .unwrap_or_else(|| client::refusal_failure(&request.to_http(project), answer, &self.key));
        if failure.code == Code::Unauthenticated {
            self.client.note_refused_key();
        }

        failure
    }

    /// Opens a file as a stream, in one attempt. `listed_url` is the address of the file in an earlier answer.
    ///
    /// # Errors
    /// The failure, and whether another attempt may succeed.
    pub async fn open(
        &self,
        request: &OperationRequest,
        listed_url: Option<&str>,
        resume_from: &ResumeFrom,
    ) -> Result<DownloadResponse, OpenError> {
        let mut request = request.to_http(None);
        // A stream has no limit of size: it is resumed by `resume_from`, not read in parts.
        request.part = None;
        request.body = None;
        self.client.open(&request, listed_url, resume_from, &self.key).await
    }

    /// Returns the presigned address of a file, if the service has one. `listed_url` is the address of the file in an
    /// earlier answer.
    pub async fn presigned_address(
        &self,
        request: &OperationRequest,
        listed_url: Option<&str>,
    ) -> Option<PresignedAddress> {
        self.client.presigned_address(&request.to_http(None), listed_url, &self.key).await
    }

    async fn send_without_fallback(
        &self,
        request: &OperationRequest,
        project: Option<&str>,
    ) -> Result<HttpResponse, Failure> {
        self.client.send(&request.to_http(project), &self.key, self.deadline).await
    }

    /// Reads the list of `fallback` page by page until it shows the record with the id `id`.
    ///
    /// Returns the record as an answer, or `None` if the list does not contain it. If the service refuses the list,
    /// returns that refusal, because it proves nothing about the record.
    async fn find_in_list(
        &self,
        fallback: Fallback,
        id: Option<&Value>,
        project: Option<&str>,
    ) -> Result<Option<HttpResponse>, Failure> {
        let Some(list) = catalog::find(fallback.list) else { return Ok(None) };
        let read = |number| async move {
            let request = self.request(list, paging::page_arguments(&Fields::new(), number))?;
            let answer = self.send_without_fallback(&request, project).await?;
            // A body that is not JSON becomes null, which `Page::parse` refuses.
            let body = reply::parse_body(&answer).await.unwrap_or_default();
            Ok((answer, body))
        };

        let end = paging::scan(MAX_FALLBACK_PAGES, read, |number, (answer, body)| {
            if !answer.is_success() {
                return Ok(ControlFlow::Break(answer));
            }

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
            ScanEnd::PageLimit => {
                let newest = MAX_FALLBACK_PAGES * PAGE_SIZE;
                let message = format!("the record is not among the newest {newest} of `{}`", list.name);
                Err(Failure::new(Code::NotFound, message))
            }
        }
    }
}

/// Returns whether a status can mean that the service does not have the operation. The status 404 can also mean that the
/// service has the operation and not the record.
fn may_lack_operation(status: u16) -> bool {
    matches!(status, 404 | 405)
}
