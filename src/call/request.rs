//! The HTTP request of an operation, and the sender of all requests of one call.
//!
//! Some deployments of the service lack an operation that reads a single record. The record is then read from a list.

use std::{ops::ControlFlow, time::Duration};

use serde::Deserialize;
use serde_json::Value;
use tokio::{sync::Semaphore, time::Instant};

use super::{
    files::file_failure,
    paging::{self, PAGE_SIZE, Page, ScanEnd},
};
use crate::{
    client::{
        self, ApiKey, Client, DownloadResponse, HttpRequest, HttpResponse, OpenError, PresignedAddress,
        RequestKind, ResumeFrom,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        lenient::view,
        operation::{Fallback, ResponseKind},
        request::{self, Layout},
        tool::Access,
    },
    text::shorten_line,
};

/// Largest number of pages of a list that are searched for a single record.
const MAX_FALLBACK_PAGES: u64 = 50;

/// Least time for a write. With less time its outcome would probably remain unknown.
const WRITE_RESERVE: Duration = Duration::from_secs(10);

/// Largest number of records and of ids that a subject names.
const MAX_NAMED: usize = 3;

/// Longest id or name in a subject, in characters.
const MAX_NAME_CHARACTERS: usize = 80;

/// An operation with checked arguments, and the layout of its HTTP request.
#[derive(Clone, Debug)]
pub(super) struct OperationRequest {
    pub(super) entry: &'static OperationEntry,
    /// Its arguments, without those that all tools have.
    pub(super) arguments: Fields,
    layout: Layout,
}

impl OperationRequest {
    /// Lays out the request. `tmsys_name` is the name that the deployment uses for the test-management system.
    ///
    /// # Errors
    /// `invalid_arguments` if a value cannot be a part of the path, or the address becomes too long.
    pub(super) fn new(
        entry: &'static OperationEntry,
        arguments: Fields,
        tmsys_name: &str,
    ) -> Result<Self, Failure> {
        match request::layout(entry, &arguments, tmsys_name) {
            Ok(layout) => Ok(Self { entry, arguments, layout }),
            Err(violations) => Err(Failure::invalid_arguments(entry.name, &violations)),
        }
    }

    /// Returns the HTTP request for `project`, or for the route without a project.
    pub(super) fn to_http<'a>(&'a self, project: Option<&'a str>) -> HttpRequest<'a> {
        let entry = self.entry;
        let kind = if entry.is_repeatable(&self.arguments) {
            RequestKind::Repeatable
        } else {
            RequestKind::NotRepeatable
        };

        HttpRequest {
            operation: entry.name,
            url_base: entry.request.url_base,
            has_key: entry.access != Access::NoKey,
            method: entry.request.method.clone(),
            path_and_query: self.layout.target(project),
            body: self.layout.body.as_deref(),
            part: self.layout.range,
            kind,
            subject: subject(entry, &self.arguments),
            project,
            hints: entry.failure_hints,
        }
    }
}

/// Longest answer that is converted and cut on the thread that serves the calls, in bytes.
pub(super) const MAX_INLINE_BYTES: usize = 64 * 1024;

/// Limits how many long answers and pictures are worked on at a time: the values of an answer take several times the memory
/// of its text.
pub(crate) static LONG_WORK: Semaphore = Semaphore::const_new(2);

/// Parses a body. Bytes that are not UTF-8 and halves of a surrogate pair become U+FFFD, and spoil nothing else.
pub(super) fn parse_json(body: &[u8]) -> serde_json::Result<Value> {
    let text = String::from_utf8_lossy(body);
    serde_json::from_str(&text).or_else(|_| serde_json::from_str(&without_lone_surrogates(&text)))
}

/// Replaces the escapes of halves of a surrogate pair, which a service writes that cuts texts after a number of UTF-16 units.
fn without_lone_surrogates(text: &str) -> String {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut result = String::with_capacity(text.len());
    let mut rest = text;

    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        let (is_kept, length) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (true, 12),
            (Some(0xd800..=0xdfff), _) => (false, 6),
            _ => (true, 2),
        };
        let Some((escape, after)) = escape.split_at_checked(length) else { break };
        result += before;
        result += if is_kept { escape } else { "\u{FFFD}" };
        rest = after;
    }

    result + rest
}

/// An answer of the service, whatever its status is.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) response: HttpResponse,
    /// The body, if it is JSON that was parsed before.
    pub(super) json: Option<Value>,
}

impl Answer {
    pub(super) fn parsed(self) -> Self {
        let json = self.json.or_else(|| parse_json(&self.response.body).ok());
        Self { json, ..self }
    }

    pub(super) fn is_success(&self, entry: &OperationEntry) -> bool {
        match entry.request.response_kind {
            ResponseKind::Json | ResponseKind::Status => self.response.is_success(),
            ResponseKind::Redirect => (300..400).contains(&self.response.status),
            // 416 means that the file is shorter than the requested offset.
            ResponseKind::File => matches!(self.response.status, 200 | 206 | 416),
        }
    }
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
    /// Returns the time until the deadline.
    pub(super) fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Lays out a request of `entry`.
    ///
    /// # Errors
    /// `invalid_arguments` if the arguments make no valid address.
    pub(super) fn request(
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
    pub(super) async fn send(
        &self,
        request: &OperationRequest,
        project: Option<&str>,
    ) -> Result<Answer, Failure> {
        if !request.entry.effect.is_read_only() && self.remaining() < WRITE_RESERVE {
            let message =
                format!("{}: not sent: too little of the time limit of the call is left", request.entry.name);
            return Err(Failure::new(Code::Timeout, message).hint("nothing was sent: call again"));
        }

        let response = self.client.send(&request.to_http(project), &self.key, self.deadline).await?;
        let answer = Answer { response, json: None };
        let status = answer.response.status;

        // 404 can also mean that the service has the operation and not the record.
        match request.entry.request.fallback.filter(|_| matches!(status, 404 | 405)) {
            Some(fallback) => self.find_in_list(fallback, request, project, answer).await,
            None => Ok(answer),
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
    ) -> Result<Answer, Failure> {
        let answer = self.send(request, project).await?;
        if answer.is_success(request.entry) {
            Ok(answer)
        } else {
            Err(self.refusal(request, project, &answer.response))
        }
    }

    /// Returns the failure that an unsuccessful answer means.
    pub(super) fn refusal(
        &self,
        request: &OperationRequest,
        project: Option<&str>,
        answer: &HttpResponse,
    ) -> Failure {
        let failure = file_failure(request.entry, answer)
            .unwrap_or_else(|| client::refusal_failure(&request.to_http(project), answer, &self.key));
        if failure.code == Code::Unauthenticated {
            self.client.note_refused_key();
        }

        failure
    }

    /// Reads the list of `fallback` page by page until it shows the record that `request` names. `refused` is the
    /// answer to the request itself.
    ///
    /// If the service refuses the list too, that refusal is the answer, because it proves nothing about the record.
    async fn find_in_list(
        &self,
        fallback: Fallback,
        request: &OperationRequest,
        project: Option<&str>,
        refused: Answer,
    ) -> Result<Answer, Failure> {
        let Some(list) = catalog::find(fallback.list) else { return Ok(refused) };
        let id = request.arguments.get(fallback.argument);
        let read = |number| async move {
            let request = self.request(list, paging::page_arguments(&Fields::new(), number))?;
            let response = self.client.send(&request.to_http(project), &self.key, self.deadline).await?;
            Ok(Answer { response, json: None }.parsed())
        };

        let end = paging::scan(MAX_FALLBACK_PAGES, read, |number, mut answer: Answer| {
            if !answer.response.is_success() {
                return Ok(ControlFlow::Break(answer));
            }

            // A body that is not JSON becomes null, which `Page::parse` refuses.
            let page = Page::parse(list.name, answer.json.take().unwrap_or_default())
                .map_err(|failure| failure.status(answer.response.status))?;
            let is_last = page.records.is_empty() || page.is_last(number);
            match page.records.into_iter().find(|record| record.get(fallback.field) == id) {
                Some(record) => Ok(ControlFlow::Break(Answer { json: Some(record), ..answer })),
                None => Ok(ControlFlow::Continue(is_last)),
            }
        });

        let not_found = |message| Err(Failure::new(Code::NotFound, message));
        match end.await? {
            ScanEnd::Stopped(answer) => Ok(answer),
            ScanEnd::LastPage if refused.response.status == 404 => Ok(refused),
            // 405 means that the operation does not exist. It does not mean that the record is missing.
            ScanEnd::LastPage => {
                not_found(format!("{}: the record is not in `{}`", request.entry.name, fallback.list))
            }
            ScanEnd::PageLimit => {
                let newest = MAX_FALLBACK_PAGES * PAGE_SIZE;
                not_found(format!("the record is not among the newest {newest} of `{}`", list.name))
            }
        }
    }

    /// Opens a file as a stream, in one attempt. `listed_url` is the address of the file in an earlier answer.
    pub(super) async fn open(
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
    pub(super) async fn presigned_address(
        &self,
        request: &OperationRequest,
        listed_url: Option<&str>,
    ) -> Option<PresignedAddress> {
        self.client.presigned_address(&request.to_http(None), listed_url, &self.key).await
    }
}

/// Arguments, or an object among them, with the name that a record is to get.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: Option<String>,
}

/// Returns what a call of `entry` is about, such as `run 7` or `"Login"`. Returns an empty text if the arguments name
/// nothing.
///
/// The records in the path come first. Without one, the subject is the name that the call gives, or else the records in
/// the other arguments.
fn subject(entry: &OperationEntry, arguments: &Fields) -> String {
    let in_path = entry.request.path_fields().filter_map(|name| named(name, arguments.get(name)?));
    let in_path: Vec<_> = in_path.collect();
    if !in_path.is_empty() {
        return in_path.join(", ");
    }

    let own_name = view::<Named>(arguments).name;
    if let Some(name) = own_name.or_else(|| arguments.values().find_map(|value| view::<Named>(value).name)) {
        return format!("\"{}\"", shorten_line(&name, MAX_NAME_CHARACTERS));
    }

    let others = arguments.iter().filter_map(|(name, value)| named(name, value));
    others.take(MAX_NAMED).collect::<Vec<_>>().join(", ")
}

/// Returns the kind and the ids of the records that an argument names; `None` if it names none.
fn named(argument: &str, value: &Value) -> Option<String> {
    let (noun, ids) = match value {
        Value::Array(ids) => (argument.strip_suffix("_ids")?, ids.as_slice()),
        id => (
            argument.strip_suffix("_id").or((argument == "filename").then_some("file"))?,
            std::slice::from_ref(id),
        ),
    };

    let noun = noun.trim_start_matches("multiplayer_").replace('_', " ");
    let plural = if ids.len() > 1 { "s" } else { "" };
    let texts = ids.iter().take(MAX_NAMED).filter_map(Value::as_str);
    let listed: Vec<_> = texts.map(|id| shorten_line(id, MAX_NAME_CHARACTERS)).collect();
    let more = ids.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };

    (!listed.is_empty()).then(|| format!("{noun}{plural} {}{more}", listed.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_subject_names_the_records_or_the_name_of_a_call() {
        for (operation, arguments, expected) in [
            ("get_run", json!({"run_id": "r1"}), "run r1"),
            ("get_run_artifact", json!({"run_id": "r1-0", "filename": "a/b.log"}), "run r1-0, file a/b.log"),
            ("update_test", json!({"test_id": "t", "patch": {"name": "New"}}), "test t"),
            ("create_test_folder", json!({"name": "Levels", "parent_folder_id": "f"}), "\"Levels\""),
            ("create_test", json!({"test": {"name": "Log\nin"}, "folder_id": "f"}), "\"Log in\""),
            ("start_run", json!({"multiplayer_test_id": "t", "retries": 1}), "test t"),
            ("stop_runs", json!({"job_ids": ["a", "b", "c", "d", "e"]}), "jobs a, b, c and 2 more"),
            ("list_runs", json!({"page": 1}), ""),
        ] {
            let entry = catalog::find(operation).expect("an operation");
            let arguments = arguments.as_object().expect("an object");

            assert_eq!(subject(entry, arguments), expected, "{operation}");
        }
    }
}
