//! Responses of the service that are not 2xx, as failures (service.md 1.5).

use serde_json::Value;

use super::{
    ServiceHost,
    key::{ApiKey, KeyKind},
    response::HttpResponse,
    transport_error::attempts_note,
};
use crate::{
    failure::{Cause, Code, Failure, quote},
    fields::Fields,
    service::{
        operation::UrlBase,
        request::Request,
        tool::{FailureHints, PROJECT_ID},
    },
};

/// The text of the service before the name of a missing permission (service.md 1.5).
const MISSING_PERMISSION: &str = "missing required permission:";

/// Fields in which a multi-part response reports its parts (service.md 2.1).
const PART_LISTS: [&str; 2] = ["results", "device_runs"];

/// Longest body of a refusal that is parsed, in bytes. An explanation is far shorter.
const MAX_PARSED_BYTES: usize = 256 * 1024;

/// Hint for a record that was changed between reading and writing.
const STALE_VERSION: &str = "another writer has changed the record, and nothing was written: call again with only your changed fields, and with `details.latest_version` as `argument:expected_version`";

/// Returns a refusal of the service as a failure. The text of the service is quoted, and the other fields of its body
/// are kept in `details`.
pub fn refusal_failure(request: &Request, response: &HttpResponse, key: &ApiKey) -> Failure {
    let refusal = ServiceRefusal::read(request, response, key);
    let mut failure = Failure::new(refusal.code(), refusal.message()).status(response.status);

    failure.facts.cause = refusal.is_stale().then_some(Cause::StaleRecord);
    failure = match (refusal.uncertainty(), refusal.hint()) {
        (Some(advice), _) => failure.uncertain(format!("it may have happened: {advice}")),
        (None, Some(hint)) => failure.hint(key.mask_text(hint)),
        (None, None) => failure,
    };

    if let Some(text) = &refusal.text {
        failure = failure.detail("service_error", text.as_str());
    }
    if let Some(permission) = refusal.missing_permission() {
        failure = failure.missing_permission(permission);
    }
    if let Some(wait) = response.retry_after {
        failure = failure.retry_after(wait);
    }

    for (name, value) in refusal.body {
        // The text in `error` is the detail `service_error` already.
        let is_repeated = name == "error" && value.is_string();
        if !is_repeated && !failure.details.contains_key(&name) {
            failure.details.insert(name, value);
        }
    }

    failure
}

/// A response that is not 2xx, with its body parsed and the key masked.
struct ServiceRefusal<'a> {
    request: &'a Request,
    response: &'a HttpResponse,
    key_kind: KeyKind,
    body: Fields,
    /// The service's own text: `error`, else `message`.
    text: Option<String>,
    /// The field in which the response reports its parts, if there is one.
    part_list: Option<&'static str>,
}

impl<'a> ServiceRefusal<'a> {
    fn read(request: &'a Request, response: &'a HttpResponse, key: &ApiKey) -> Self {
        let mut body = Value::Object(fields_of_body(&response.body));
        key.clean(&mut body);
        let body = if let Value::Object(body) = body { body } else { Fields::new() };

        let text = service_text(&body);
        let part_list = PART_LISTS.into_iter().find(|name| is_filled_list(body.get(*name)));

        Self { request, response, key_kind: key.kind(), body, text, part_list }
    }

    fn hints(&self) -> FailureHints {
        self.request.operation.failure_hints
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    fn code(&self) -> Code {
        code_for(self.response.status, self.text(), self.hints().feature.is_some())
    }

    fn message(&self) -> String {
        let explanation = match (&self.text, self.part_list) {
            (Some(text), _) => text.clone(),
            (None, Some(list)) => format!("no part of the request succeeded; see `details.{list}`"),
            (None, None) => "without an explanation".to_owned(),
        };
        let attempts = attempts_note(self.response.attempts);
        let (label, status) = (self.request.label(), self.response.status);
        let version = |name| self.body.get(name).filter(|version| !version.is_null());
        let versions = match (version("expected_version"), version("latest_version")) {
            (Some(expected), Some(latest)) => {
                format!("; the call expected version {expected}, and the latest version is {latest}")
            }
            _ => String::new(),
        };

        format!("{label}: the service answered {status}{attempts}: {explanation}{versions}")
    }

    fn missing_permission(&self) -> Option<&str> {
        let start = self.text().to_ascii_lowercase().find(MISSING_PERMISSION)?;
        self.text().get(start + MISSING_PERMISSION.len()..).map(str::trim)
    }

    fn is_stale(&self) -> bool {
        self.code() == Code::Conflict && self.body.contains_key("latest_version")
    }

    /// How to find out whether the call was performed, if the answer leaves that open.
    fn uncertainty(&self) -> Option<&'static str> {
        self.hints().recovery.filter(|_| self.part_list.is_none() && self.code() == Code::ServiceUnavailable)
    }

    fn hint(&self) -> Option<String> {
        if self.part_list.is_some() {
            return Some("read what each part reports before you call again".to_owned());
        }
        if self.is_stale() {
            return Some(STALE_VERSION.to_owned());
        }

        match self.code() {
            Code::RateLimited => Some(self.rate_limit_hint()),
            Code::BadResponse => Some(self.wrong_address_hint()),
            Code::FeatureDisabled => Some(self.feature_hint()),
            Code::PermissionDenied if self.missing_permission().is_some() => {
                Some(with_alternative("a key with this permission is needed", self.hints().access))
            }
            code => self.fixed_hint(code).map(str::to_owned),
        }
    }

    fn feature_hint(&self) -> String {
        let project =
            self.request.project.as_ref().map(|project| format!(" `{project}`")).unwrap_or_default();
        let enable = format!("a project administrator can enable the feature for the project{project}");
        with_alternative(&enable, self.hints().feature.or(self.hints().access))
    }

    fn fixed_hint(&self, code: Code) -> Option<&'static str> {
        let is_organization_key = self.key_kind == KeyKind::Organization;

        Some(match code {
            Code::Unauthenticated if self.response.status == 403 => {
                "the key has expired or is disabled: another key is needed, or this one must be enabled"
            }
            Code::Unauthenticated
                if self.request.operation.request.url_base == UrlBase::Base && is_organization_key =>
            {
                "this operation may accept project keys only: a project key is needed, or the file itself"
            }
            Code::Unauthenticated => {
                "the service does not know the key: `tas-mcp login` stores another one, and `tas-mcp status` shows where the key comes from; an organization key needs a project (TAS_PROJECT_ID or `argument:project_id`)"
            }
            Code::PermissionDenied => {
                "the key may belong to another project: check `argument:project_id` and the key"
            }
            Code::NotFound if self.hints().not_found.is_some() => {
                return self.hints().not_found.map(|hint| hint(&self.request.arguments));
            }
            Code::NotFound if self.is_about_no_record() => {
                "the project does not exist, or the service lacks this operation: check `argument:project_id` and the address of the service"
            }
            Code::Conflict => return self.hints().conflict,
            _ => return None,
        })
    }

    /// Returns whether the request names no record that may be missing. The ids that filter a list do not make it 404.
    fn is_about_no_record(&self) -> bool {
        let operation = self.request.operation;
        let is_list =
            operation.effect.is_read_only() && operation.request.path_fields().all(|name| name == PROJECT_ID);
        is_list || self.request.label() == operation.name
    }

    fn rate_limit_hint(&self) -> String {
        match self.response.retry_after {
            Some(wait) => format!("wait {} s before the next call", wait.as_secs()),
            None => "wait a minute before the next call, and call less often".to_owned(),
        }
    }

    fn wrong_address_hint(&self) -> String {
        let setting = ServiceHost::of(self.request).setting();

        match &self.response.location {
            Some(location) => format!(
                "the service redirects to `{}`, which does not receive the key: {setting} must be the final address",
                quote(location)
            ),
            None => format!("{setting} may not be the address of the service"),
        }
    }
}

/// Returns `hint`, and what still works without the permission or the feature.
fn with_alternative(hint: &str, alternative: Option<&str>) -> String {
    match alternative {
        None => hint.to_owned(),
        // Only a part that names tools can be left out.
        Some(other) if other.contains("`tool:") => format!("{hint}[[; {other}]]"),
        Some(other) => format!("{hint}; {other}"),
    }
}

/// Returns the fields of a body. The text of a body that is no JSON object, or that is too long for an explanation, is
/// the field `error`.
fn fields_of_body(body: &[u8]) -> Fields {
    let parsed = if body.len() <= MAX_PARSED_BYTES { serde_json::from_slice(body).ok() } else { None };
    if let Some(Value::Object(fields)) = parsed {
        return fields;
    }

    // A gateway in front of the service may answer with HTML or plain text.
    let start = body.get(..MAX_PARSED_BYTES).unwrap_or(body);
    Fields::from_iter([("error".to_owned(), Value::from(String::from_utf8_lossy(start)))])
}

/// Returns the explanation in the body of a refusal: `error`, else `message`.
fn service_text(body: &Fields) -> Option<String> {
    let texts = ["error", "message"].into_iter().filter_map(|name| body.get(name).and_then(Value::as_str));
    texts.map(str::trim).find(|text| !text.is_empty()).map(quote)
}

fn is_filled_list(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(|items| !items.is_empty())
}

/// Returns the code of the failure for a status and the service's own text. Only the text distinguishes the meanings of
/// the status 403. Every text about the key names it (service.md 1.5), so that another text, in whatever language, is about
/// the feature that an operation needs.
fn code_for(status: u16, text: &str, needs_feature: bool) -> Code {
    let text = text.to_ascii_lowercase();
    let mentions = |words: &str| text.contains(words);

    match status {
        401 => Code::Unauthenticated,
        402 => Code::QuotaExceeded,
        403 if mentions(MISSING_PERMISSION) => Code::PermissionDenied,
        403 if mentions("api key expired") || mentions("api key is disabled") => Code::Unauthenticated,
        403 if needs_feature && !mentions("api key") => Code::FeatureDisabled,
        403 if mentions("not enabled") || mentions("disabled") || mentions("feature") => {
            Code::FeatureDisabled
        }
        403 => Code::PermissionDenied,
        404 => Code::NotFound,
        409 => Code::Conflict,
        413 => Code::TooLarge,
        429 => Code::RateLimited,
        500.. => Code::ServiceUnavailable,
        ..=399 => Code::BadResponse,
        _ => Code::Rejected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_an_operation_that_needs_a_feature_is_about_the_feature_unless_it_names_the_key() {
        for (text, expected) in [
            ("", Code::FeatureDisabled),
            ("Die Prüfung von Fehlern ist abgeschaltet", Code::FeatureDisabled),
            ("API key missing required permission: project:read-runs", Code::PermissionDenied),
            ("API key does not match project", Code::PermissionDenied),
            ("API key is disabled", Code::Unauthenticated),
        ] {
            assert_eq!(code_for(403, text, true), expected, "{text}");
        }
    }
}
