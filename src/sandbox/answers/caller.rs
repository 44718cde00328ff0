//! The caller of an operation, and the project that the caller may use.

use http::{HeaderMap, HeaderName, header};

use crate::sandbox::{
    answers::api_error::ApiError,
    model::{project::Project, world::World},
};

/// The caller of an operation, after authentication.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Project of the request: from the path, or the project of the key.
    pub project: String,
    /// Id of the key, as records show it.
    pub key_id: &'static str,
    /// Headers that select a part of a file.
    pub conditions: FileConditions,
}

/// Headers of a request that select how much of a file the answer contains.
#[derive(Clone, Debug, Default)]
pub struct FileConditions {
    /// `Range`
    pub range: Option<String>,
    /// `If-Range`
    pub if_range: Option<String>,
    /// `If-None-Match`
    pub if_none_match: Option<String>,
}

impl FileConditions {
    /// Reads the conditions from the headers of a request. A header that is not text counts as absent.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| {
            let value = headers.get(name)?;
            value.to_str().ok().map(str::to_owned)
        };

        Self {
            range: text(header::RANGE),
            if_range: text(header::IF_RANGE),
            if_none_match: text(header::IF_NONE_MATCH),
        }
    }
}

impl World {
    /// Returns the project that a request reads.
    pub(crate) fn project(&self, caller: &Caller) -> Result<&Project, ApiError> {
        self.projects().get(&caller.project).ok_or_else(unknown_project)
    }

    /// Returns the project that a request changes.
    pub(super) fn project_mut(&mut self, caller: &Caller) -> Result<&mut Project, ApiError> {
        self.projects_mut().get_mut(&caller.project).ok_or_else(unknown_project)
    }
}

/// Creates the error for an unknown project. The error is a 403, because some operations have no 404.
fn unknown_project() -> ApiError {
    ApiError::forbidden("API key does not match the project")
}
