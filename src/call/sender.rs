//! The sender of all requests of one call.
//!
//! Some deployments of the service lack an operation that reads a single record. The record is then read from a list.

use std::{panic::resume_unwind, time::Duration};

use tokio::{sync::Semaphore, task::spawn_blocking, time::Instant};
use tokio_util::bytes::Bytes;

use super::{
    files::file_failure,
    paging::{PAGE_SIZE, Page, page_arguments},
};
use crate::{
    client::{self, ApiKey, Client, HttpResponse},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        request::Request,
    },
};

/// Largest number of pages of a list that are searched for a single record.
const MAX_FALLBACK_PAGES: u64 = 50;

/// Least time for a write. With less time its outcome would probably remain unknown.
const WRITE_RESERVE: Duration = Duration::from_secs(10);

/// Longest answer that is converted and cut on the thread that serves the calls, in bytes.
pub(super) const MAX_INLINE_BYTES: usize = 64 * 1024;

/// Limits how many long answers and pictures are worked on at a time: the values of an answer take several times the memory
/// of its text.
pub(crate) static LONG_WORK: Semaphore = Semaphore::const_new(2);

/// Does `work` on another thread, because this one serves the other calls.
pub(super) async fn on_other_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    // The semaphore is never closed.
    let _permit = LONG_WORK.acquire().await;
    spawn_blocking(work).await.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// Sends the requests of one call, with the same key and the same deadline.
#[derive(Clone, Debug)]
pub(super) struct RequestSender<'a> {
    pub(super) client: &'a Client,
    /// The key at the start of the call. A replaced key takes effect with the next call.
    pub(super) key: ApiKey,
    /// When the call ends.
    pub(super) deadline: Instant,
    /// The name that the deployment uses for the test-management system.
    pub(super) tmsys_name: &'a str,
}

impl RequestSender<'_> {
    /// Lays out a request to `project`, or to the route without a project.
    ///
    /// # Errors
    /// `invalid_arguments` if the arguments make no valid address.
    pub(super) fn request(
        &self,
        operation: &'static OperationEntry,
        arguments: Fields,
        project: Option<&str>,
    ) -> Result<Request, Failure> {
        Request::new(operation, arguments, project, self.tmsys_name)
            .map_err(|violations| Failure::invalid_arguments(operation.name, &violations))
    }

    /// Sends a request. Returns the response whatever its status is.
    ///
    /// # Errors
    /// The request cannot be sent, or its record is not in the list that is read instead of it.
    pub(super) async fn send(&self, request: &Request) -> Result<HttpResponse, Failure> {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        if !request.operation.effect.is_read_only() && remaining < WRITE_RESERVE {
            let name = request.operation.name;
            let message = format!("{name}: not sent: too little of the time limit of the call is left");
            return Err(Failure::new(Code::Timeout, message).hint("nothing was sent: call again"));
        }

        let response = self.client.send(request, &self.key, self.deadline).await?;
        // 404 can also mean that the service has the operation and not the record.
        match request.operation.request.fallback.filter(|_| matches!(response.status, 404 | 405)) {
            Some(fallback) => self.find_in_list(fallback, request, response).await,
            None => Ok(response),
        }
    }

    /// Sends a request, and returns the response if the service has carried it out.
    ///
    /// # Errors
    /// Every failure of [`Self::send`], and the failure that another response means.
    pub(super) async fn send_successfully(&self, request: &Request) -> Result<HttpResponse, Failure> {
        let response = self.send(request).await?;
        if request.is_success(response.status) { Ok(response) } else { Err(self.refusal(request, &response)) }
    }

    pub(super) fn refusal(&self, request: &Request, response: &HttpResponse) -> Failure {
        let failure = file_failure(request.operation, response)
            .unwrap_or_else(|| client::refusal_failure(request, response, &self.key));
        if failure.code == Code::Unauthenticated {
            self.client.note_refused_key();
        }

        failure
    }

    /// Reads the list of `fallback` page by page until it shows the record that `request` names. `refused` is the
    /// response to the request itself.
    ///
    /// If the service refuses the list too, that refusal is the response, because it proves nothing about the record.
    async fn find_in_list(
        &self,
        fallback: &str,
        request: &Request,
        refused: HttpResponse,
    ) -> Result<HttpResponse, Failure> {
        let Some(list) = catalog::find(fallback) else { return Ok(refused) };
        let id = request.operation.request.path_fields().next().and_then(|name| request.arguments.get(name));
        let not_found = |message| Err(Failure::new(Code::NotFound, message));

        for number in 0..MAX_FALLBACK_PAGES {
            let arguments = page_arguments(&Fields::new(), number);
            let page = self.request(list, arguments, request.project.as_deref())?;
            let response = self.client.send(&page, &self.key, self.deadline).await?;
            if !response.is_success() {
                return Ok(response);
            }

            // A body that is not JSON becomes null, which `Page::parse` refuses.
            let page = Page::parse(list.name, response.json().unwrap_or_default())
                .map_err(|failure| failure.status(response.status))?;
            let is_last = page.records.is_empty() || page.is_last(number);
            if let Some(record) = page
                .records
                .into_iter()
                .find(|record| list.records.and_then(|keys| record.get(keys.id)) == id)
            {
                return Ok(HttpResponse { body: Bytes::from(record.to_string()), ..response });
            }
            match refused.status {
                _ if !is_last => {}
                404 => return Ok(refused),
                // 405 means that the operation does not exist. It does not mean that the record is missing.
                _ => {
                    return not_found(format!(
                        "{}: the record is not in `{}`",
                        request.operation.name, list.name
                    ));
                }
            }
        }

        let newest = MAX_FALLBACK_PAGES * PAGE_SIZE;
        not_found(format!("the record is not among the newest {newest} of `{}`", list.name))
    }
}
