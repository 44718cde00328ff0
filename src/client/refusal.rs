//! What a refusal of the service means to callers (specification, Errors; supplement 1.5).

use serde_json::Value;

use super::{Answer, Host, Request};
use crate::{
    client::{ApiKey, KeyKind},
    failure::{Code, Failure, quotation},
    fields::Fields,
    service::operation::UrlBase,
};

/// The text of the specification before the name of a missing permission.
const MISSING_PERMISSION: &str = "missing required permission:";

/// Fields in which a multi-part answer reports its parts (specification, POST runs).
const ROWS: [&str; 2] = ["results", "device_runs"];

/// What to do when somebody else has changed a record meanwhile.
const STALE_VERSION: &str = "it changed meanwhile and nothing was written: read it again, merge your change into what you find, and retry with its `version`";

/// The answer as a failure. Its words are quoted as data; its other fields are kept under `details`.
pub fn refused(request: &Request<'_>, answer: &Answer, key: &ApiKey) -> Failure {
    let text = || Value::from(String::from_utf8_lossy(&answer.body));
    let mut body = match serde_json::from_slice(&answer.body) {
        Ok(Value::Object(body)) => body,
        _ => Fields::from_iter([("error".to_owned(), text())]),
    };
    key.mask_fields(&mut body);

    let is_filled =
        |name: &&str| body.get(*name).and_then(Value::as_array).is_some_and(|rows| !rows.is_empty());
    let rows = ROWS.into_iter().find(is_filled);
    let words = words(&body);
    let said = words.as_deref().unwrap_or_default();
    let code = code_of(answer.status, said);
    let tries = if answer.attempts > 1 { format!(" ({} attempts)", answer.attempts) } else { String::new() };
    let shown = match (&words, rows) {
        (Some(words), _) => words.clone(),
        (None, Some(rows)) => format!("no part of it succeeded; see `details.{rows}`"),
        (None, None) => "no explanation".to_owned(),
    };
    let message = format!("{}: the service answered {}{tries}: {shown}", request.operation, answer.status);
    let mut failure = Failure::new(code, message).status(answer.status);

    if rows.is_some() {
        failure = failure.hint("see what each part reports before you call again");
    } else if code == Code::Conflict && body.contains_key("latest_version") {
        failure = failure.hint(STALE_VERSION);
    } else if let (Code::ServiceUnavailable, Some(advice)) = (code, request.in_doubt) {
        failure = failure.in_doubt(format!("it may have happened: {advice}"));
    } else if let Some(hint) = hint(code, request, answer, key, said) {
        failure = failure.hint(key.masked(hint));
    }

    if let Some(words) = &words {
        failure = failure.detail("service_error", words.as_str());
    }

    if let Some((_, permission)) = said.split_once(MISSING_PERMISSION) {
        failure = failure.detail("required_permission", permission.trim());
    }

    if let Some(wait) = answer.retry_after {
        failure = failure.detail("retry_after_s", wait.as_secs());
    }

    for (name, value) in body {
        let repeated = name == "error" && value.is_string();
        if !repeated && !failure.details.contains_key(&name) {
            failure.details.insert(name, value);
        }
    }

    failure
}

/// The service's own words: `error`, else `message`.
fn words(body: &Fields) -> Option<String> {
    let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    text("error").or_else(|| text("message")).map(|text| quotation(text.trim()))
}

fn code_of(status: u16, said: &str) -> Code {
    let said = said.to_ascii_lowercase();
    let has = |words: &str| said.contains(words);

    match status {
        401 => Code::Unauthenticated,
        402 => Code::QuotaExceeded,
        403 if has(MISSING_PERMISSION) => Code::PermissionDenied,
        403 if has("api key expired") || has("api key is disabled") => Code::Unauthenticated,
        403 if has("not enabled") || has("disabled") || has("feature") => Code::FeatureDisabled,
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

fn hint(code: Code, request: &Request<'_>, answer: &Answer, key: &ApiKey, said: &str) -> Option<String> {
    let text = match code {
        Code::Unauthenticated if answer.status == 403 => {
            "the key can no longer be used: ask the person for another one, or to enable it".to_owned()
        }
        Code::Unauthenticated if request.place == UrlBase::Base && key.kind() == KeyKind::Organization => {
            "this operation may take project keys only: ask the person for one, or for the file itself".to_owned()
        }
        Code::Unauthenticated => {
            "check TAS_API_KEY; an organization key works only with a project (TAS_PROJECT_ID or `project_id`)".to_owned()
        }
        Code::PermissionDenied if said.contains(MISSING_PERMISSION) => {
            "ask the person for a key with that permission".to_owned()
        }
        Code::PermissionDenied => "the key may be of another project: check `project_id` and the key".to_owned(),
        Code::FeatureDisabled => "the project lacks this feature; a project administrator can switch it on".to_owned(),
        Code::NotFound => "check the id and the kind of id: run, job, test and plan ids are different things".to_owned(),
        Code::Conflict => "look at the present state, then decide whether to call again".to_owned(),
        Code::RateLimited => match answer.retry_after {
            Some(wait) => format!("wait {} s before the next call", wait.as_secs()),
            None => "wait a minute before the next call, and make fewer of them".to_owned(),
        },
        Code::ServiceUnavailable => "call again later".to_owned(),
        Code::BadResponse => match &answer.location {
            Some(location) => format!(
                "the service redirects to `{}`, where the key is not sent: {} must be the final address",
                quotation(location),
                Host::of(request.place).setting()
            ),
            None => format!("{} may not be the address of the service", Host::of(request.place).setting()),
        },
        _ => return None,
    };
    Some(text)
}
