//! The properties of the HTTP request of an operation.

use http::Method;

use crate::{
    fields::Fields,
    service::operation::{
        DuplicateCheck, Fallback, PROJECT, Pictures, ResponseKind, TMSYS, UrlBase, placeholder,
    },
};

/// The properties of the HTTP request of an operation, and of its response.
///
/// A new property is one field here, its default in `RequestInfo::new`, and one builder method.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// HTTP method.
    pub method: Method,
    /// Path below [`Self::url_base`]. Every `{placeholder}` is a field of the operation, except [`TMSYS`] and
    /// [`PROJECT`]. The value of `{*placeholder}` may be several segments.
    pub path: &'static str,
    /// The address below which the path begins.
    pub url_base: UrlBase,
    /// Fields that travel in the query although the method has a body.
    pub query_fields: &'static [&'static str],
    /// Fields that travel in a JSON body although the method usually has none.
    pub body_fields: &'static [&'static str],
    /// Arguments of this program. They shape the request or the reply and are not sent.
    pub own_arguments: &'static [&'static str],
    /// Name of the operation that reads the record that this one changes, with the same id.
    pub current_record: Option<&'static str>,
    /// Whether the body contains the project too, as `project_id`.
    pub project_in_body: bool,
    /// Name of the object in the body that holds the fields. `None`: the body itself holds them.
    pub wrapper: Option<&'static str>,
    /// Whether the service refuses unknown fields in the body.
    pub denies_unknown_fields: bool,
    /// Content of a successful response.
    pub response_kind: ResponseKind,
    /// Place of the pictures in a JSON answer.
    pub pictures: Option<Pictures>,
    /// List to read if the service does not have the operation.
    pub fallback: Option<Fallback>,
    /// Ways to find out whether an earlier equal call took effect. The first one that applies to the arguments counts.
    pub duplicate_checks: &'static [DuplicateCheck],
    /// Returns whether a call that is not read-only may be sent twice with the same result.
    pub is_repeatable: fn(&Fields) -> bool,
}

impl RequestInfo {
    const fn new(method: Method, path: &'static str) -> Self {
        Self {
            method,
            path,
            url_base: UrlBase::Project,
            query_fields: &[],
            body_fields: &[],
            own_arguments: &[],
            current_record: None,
            project_in_body: false,
            wrapper: None,
            denies_unknown_fields: false,
            response_kind: ResponseKind::Json,
            pictures: None,
            fallback: None,
            duplicate_checks: &[],
            // A call that writes is not repeated unless the operation states that a repetition is safe.
            is_repeatable: |_| false,
        }
    }

    /// A `GET` request.
    pub const fn get(path: &'static str) -> Self {
        Self::new(Method::GET, path)
    }

    /// A `POST` request.
    pub const fn post(path: &'static str) -> Self {
        Self::new(Method::POST, path)
    }

    /// A `PATCH` request.
    pub const fn patch(path: &'static str) -> Self {
        Self::new(Method::PATCH, path)
    }

    /// A `DELETE` request.
    pub const fn delete(path: &'static str) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// Sets the address below which the path begins. Without this call it is [`UrlBase::Project`].
    #[must_use]
    pub const fn below(mut self, url_base: UrlBase) -> Self {
        self.url_base = url_base;
        self
    }

    /// Sets the fields that travel in the query although the method has a body.
    #[must_use]
    pub const fn query_fields(mut self, fields: &'static [&'static str]) -> Self {
        self.query_fields = fields;
        self
    }

    /// Sets the fields that travel in a JSON body although the method usually has none.
    #[must_use]
    pub const fn body_fields(mut self, fields: &'static [&'static str]) -> Self {
        self.body_fields = fields;
        self
    }

    /// Sets the arguments that are not sent.
    #[must_use]
    pub const fn own_arguments(mut self, arguments: &'static [&'static str]) -> Self {
        self.own_arguments = arguments;
        self
    }

    /// Sets the operation that reads the record, whose current state is part of a refusal of a stale version.
    #[must_use]
    pub const fn current_record(mut self, operation: &'static str) -> Self {
        self.current_record = Some(operation);
        self
    }

    /// Adds the project to the body.
    #[must_use]
    pub(crate) const fn with_project_in_body(mut self) -> Self {
        self.project_in_body = true;
        self
    }

    /// Sets the name of the object in the body that holds the fields.
    #[must_use]
    pub(crate) const fn wrapped_in(mut self, wrapper: &'static str) -> Self {
        self.wrapper = Some(wrapper);
        self
    }

    /// Declares that the service refuses unknown fields in the body.
    #[must_use]
    pub const fn denies_unknown_fields(mut self) -> Self {
        self.denies_unknown_fields = true;
        self
    }

    /// Sets the content of a successful response. Without this call it is [`ResponseKind::Json`].
    #[must_use]
    pub(crate) const fn responds_with(mut self, kind: ResponseKind) -> Self {
        self.response_kind = kind;
        self
    }

    /// Sets the place of the pictures in a JSON answer.
    #[must_use]
    pub(crate) const fn with_pictures(mut self, pictures: Pictures) -> Self {
        self.pictures = Some(pictures);
        self
    }

    /// Sets the list to read if the service does not have the operation.
    #[must_use]
    pub(crate) const fn falls_back_to(mut self, fallback: Fallback) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// Sets the ways to find out whether an earlier equal call took effect.
    #[must_use]
    pub const fn duplicate_checks(mut self, checks: &'static [DuplicateCheck]) -> Self {
        self.duplicate_checks = checks;
        self
    }

    /// Sets which calls may be sent twice with the same result.
    #[must_use]
    pub(crate) const fn repeatable_if(mut self, condition: fn(&Fields) -> bool) -> Self {
        self.is_repeatable = condition;
        self
    }

    /// Returns whether an answer may hold pictures.
    pub const fn has_pictures(&self) -> bool {
        self.pictures.is_some() || matches!(self.response_kind, ResponseKind::File)
    }

    /// Returns the names of the fields that travel in the path.
    pub fn path_fields(&self) -> impl Iterator<Item = &'static str> {
        let segments = self.path.split('/').filter(|segment| *segment != TMSYS);
        segments.filter_map(placeholder).map(|placeholder| placeholder.name)
    }

    /// Returns whether a field that is not in the path travels in the JSON body.
    pub fn is_in_body(&self, field: &str) -> bool {
        if self.has_body() { !self.query_fields.contains(&field) } else { self.body_fields.contains(&field) }
    }

    /// Returns whether every request has a JSON body.
    pub fn has_body(&self) -> bool {
        !matches!(self.method, Method::GET | Method::DELETE | Method::HEAD)
    }

    /// Returns whether the path or the body names the project as a field.
    pub fn names_project(&self) -> bool {
        self.project_in_body || self.path.contains(PROJECT)
    }
}
