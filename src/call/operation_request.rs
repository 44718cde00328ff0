//! An operation with its arguments, laid out as an HTTP request.

use crate::{
    call::subject::subject,
    client::{HttpRequest, RequestKind},
    failure::Failure,
    fields::Fields,
    service::{
        catalog::OperationEntry,
        request::{self, Layout},
        tool::Access,
    },
};

/// An operation with checked arguments, and the layout of its HTTP request.
#[derive(Clone, Debug)]
pub struct OperationRequest {
    /// The operation.
    pub entry: &'static OperationEntry,
    /// Its arguments, without those that all tools have.
    pub arguments: Fields,
    layout: Layout,
}

impl OperationRequest {
    /// Lays out the request. `tmsys_name` is the name that the deployment uses for the test-management system.
    ///
    /// # Errors
    /// `invalid_arguments` if a value cannot be a part of the path, or the address becomes too long.
    pub fn new(entry: &'static OperationEntry, arguments: Fields, tmsys_name: &str) -> Result<Self, Failure> {
        match request::layout(entry, &arguments, tmsys_name) {
            Ok(layout) => Ok(Self::from_layout(entry, arguments, layout)),
            Err(violations) => Err(Failure::invalid_arguments(entry.name, &violations)),
        }
    }

    /// Creates a request from the layout that was made of these arguments.
    pub(super) fn from_layout(entry: &'static OperationEntry, arguments: Fields, layout: Layout) -> Self {
        Self { entry, arguments, layout }
    }

    /// Returns whether both requests are the same HTTP request, provided that they go to the same project.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.layout == other.layout
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
