//! The answer to an operation: status, headers and body.

use axum::body::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};

/// An answer with its status.
#[derive(Debug)]
pub struct Answered<T> {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderList,
    pub(crate) body: AnswerBody<T>,
}

/// Headers of an answer, each name once.
pub(crate) type HeaderList = Vec<(HeaderName, HeaderValue)>;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum AnswerBody<T> {
    /// A value that is sent as JSON.
    Json(T),
    /// Bytes whose type is in the `Content-Type` header. They are empty if there is no such header.
    Raw(Bytes),
}

impl<T> Answered<T> {
    /// Creates a JSON answer with `status`.
    pub(crate) fn json(status: StatusCode, body: T) -> Self {
        Self { status, headers: HeaderList::new(), body: AnswerBody::Json(body) }
    }

    /// Creates a JSON answer with status 201.
    pub(crate) fn created(body: T) -> Self {
        Self::json(StatusCode::CREATED, body)
    }

    /// Creates an answer that is a file or a part of a file.
    pub(crate) fn file((status, headers, bytes): (StatusCode, HeaderList, Bytes)) -> Self {
        Self { status, headers, body: AnswerBody::Raw(bytes) }
    }

    /// Creates a redirect to `location` without a body.
    pub(super) fn redirect(status: StatusCode, location: HeaderValue) -> Self {
        Self { status, headers: vec![(header::LOCATION, location)], body: AnswerBody::Raw(Bytes::new()) }
    }
}

impl<T> From<T> for Answered<T> {
    fn from(body: T) -> Self {
        Self::json(StatusCode::OK, body)
    }
}
