//! Checks of an HTTP set-up, for `tas-mcp doctor`. They change nothing.

use serde::Serialize;

use super::{
    grants::{Grant, GrantedCallers},
    issuer::{IssuerReport, IssuerUnavailable},
    oauth::Authorization,
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    client::{DocumentClient, HostUrl, KeyKind},
    failure::{Code, Failure},
    fields::Fields,
    mcp::Callers as _,
    service::{api::shared_steps::ListSharedSteps, catalog::ListedOperation as _},
    settings::{HttpSettings, Settings, is_loopback_host},
};

/// Largest difference between the clocks of the issuer and of this machine, in seconds.
const CLOCK_TOLERANCE_S: i64 = 30;

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct SetupCheck {
    /// What was checked.
    pub checked: String,
    /// What was found.
    pub found: String,
    /// Whether the operator must change something.
    pub is_problem: bool,
}

impl SetupCheck {
    fn ok(checked: impl Into<String>, found: impl Into<String>) -> Self {
        Self { checked: checked.into(), found: found.into(), is_problem: false }
    }

    fn problem(checked: impl Into<String>, found: impl Into<String>) -> Self {
        Self { checked: checked.into(), found: found.into(), is_problem: true }
    }
}

/// Checks the settings of the HTTP server, and what they name: the public URL, the issuer, the
/// grants and the proxies.
///
/// # Errors
/// `not_configured` with every unusable setting.
pub async fn check_setup(settings: &Settings) -> Result<Vec<SetupCheck>, Failure> {
    let (http, tools) = settings.http_config()?;
    let ca_file = tools.call.client.ca_file.clone();
    let authorization = http.oauth.clone().map(Authorization::new).transpose();

    let mut checks = vec![check_listener(&http), check_proxies(&http)];
    checks.extend(check_public_url(&http, ca_file).await);
    match authorization {
        Err(error) => checks.push(SetupCheck::problem("grants", error.to_string())),
        Ok(None) => checks.push(SetupCheck::ok("sign-in", "no issuer: every credential is an API key")),
        Ok(Some(authorization)) => {
            checks.extend(check_issuer(authorization.examine_issuer().await));
            checks.extend(check_grants(&authorization.grants(), &Caller::new(tools.call)).await);
        }
    }

    Ok(checks)
}

fn check_listener(http: &HttpSettings) -> SetupCheck {
    let admin = http.admin.map_or("off".to_owned(), |address| address.to_string());
    SetupCheck::ok("listener", format!("{}, admin {admin}", http.listen))
}

fn check_proxies(http: &HttpSettings) -> SetupCheck {
    let is_local = http.public_url.as_ref().and_then(|url| url.host_str()).is_none_or(is_loopback_host);
    let networks: Vec<_> = http.trusted_proxies.iter().map(ToString::to_string).collect();
    if !networks.is_empty() {
        return SetupCheck::ok("trusted proxies", networks.join(", "));
    }
    if is_local {
        return SetupCheck::ok("trusted proxies", "none");
    }

    let problem = "none: behind a proxy all clients share the limits of one address, until TAS_HTTP_TRUSTED_PROXIES names the network of the proxy";
    SetupCheck::problem("trusted proxies", problem)
}

/// Checks whether the public URL leads to a server with these settings.
async fn check_public_url(http: &HttpSettings, ca_file: Option<std::path::PathBuf>) -> Option<SetupCheck> {
    let origin = http.public_url.as_ref()?.origin().ascii_serialization();
    let checked = "public URL";
    let Ok(host) = HostUrl::parse(&origin) else {
        return Some(SetupCheck::problem(checked, format!("{origin} is no address of a host")));
    };

    let endpoint = format!("{origin}/mcp");
    // Without an issuer there is no document, but the address answers.
    let address = match http.oauth {
        Some(_) => format!("{origin}/.well-known/oauth-protected-resource/mcp"),
        None => endpoint.clone(),
    };
    let read = DocumentClient::new(&host, ca_file).read(&address).await;
    let resource = |body: &[u8]| {
        let metadata: Option<Fields> = serde_json::from_slice(body).ok();
        Some(metadata?.get("resource")?.as_str()?.to_owned())
    };

    Some(match read {
        Err(reason) => SetupCheck::problem(checked, format!("{address} does not answer: {reason}")),
        Ok(None) if http.oauth.is_none() => SetupCheck::ok(checked, format!("{origin} answers")),
        Ok(Some(document)) if resource(&document.body).as_ref() == Some(&endpoint) => {
            SetupCheck::ok(checked, format!("{origin} answers with the metadata of {endpoint}"))
        }
        Ok(_) => SetupCheck::problem(checked, format!("{address} is not the answer of this server")),
    })
}

fn check_issuer(examined: Result<IssuerReport, IssuerUnavailable>) -> Vec<SetupCheck> {
    let IssuerReport { name, keys, clock_ahead_s } = match examined {
        Ok(report) => report,
        Err(reason) => return vec![SetupCheck::problem("issuer", reason.to_string())],
    };

    let keys = match keys {
        0 => SetupCheck::problem("issuer", format!("{name} has no key that can sign tokens")),
        count => SetupCheck::ok("issuer", format!("{name} has {count} keys that can sign tokens")),
    };
    let clock = match clock_ahead_s {
        None => SetupCheck::ok("clock of the issuer", "not stated"),
        Some(ahead) if ahead.abs() <= CLOCK_TOLERANCE_S => {
            SetupCheck::ok("clock of the issuer", format!("{ahead:+} s"))
        }
        Some(ahead) => {
            let found = format!("{ahead:+} s: tokens may be refused as expired or not valid yet");
            SetupCheck::problem("clock of the issuer", found)
        }
    };
    vec![keys, clock]
}

/// Checks with one request per grant whether the service accepts the key.
async fn check_grants(grants: &[(String, Grant)], configured: &Caller) -> Vec<SetupCheck> {
    let mut checks = Vec::new();
    for (number, (persons, grant)) in (1..).zip(grants) {
        let checked = format!("grant {number}: {persons}");
        checks.push(match check_grant(grant, configured).await {
            Err(failure) => SetupCheck::problem(checked, failure.message),
            Ok(()) if grants.len() > 1 && is_vague(grant) => {
                let note = "the service accepts the key of one project; `projects` would save look-ups";
                SetupCheck::ok(checked, note)
            }
            Ok(()) => SetupCheck::ok(checked, "the service accepts the key"),
        });
    }
    checks
}

/// Returns whether only the service knows the project of a grant.
fn is_vague(grant: &Grant) -> bool {
    grant.limits.projects.is_none() && grant.key.kind() == KeyKind::Project
}

async fn check_grant(grant: &Grant, configured: &Caller) -> Result<(), Failure> {
    let projects = grant.limits.projects.as_deref().unwrap_or_default();
    let callers = GrantedCallers::of_user(configured, "doctor", std::slice::from_ref(grant));
    let arguments = Fields::from_iter([("page_size".to_owned(), 1.into())]);
    let common = CommonArguments::in_project(projects.first().map(String::as_str));

    let arguments = ToolArguments::new(arguments, common);
    match Box::pin(callers.first()?.call(ListSharedSteps::entry(), arguments)).await {
        // An organization key needs a project, which the grant does not name.
        Err(failure) if failure.code == Code::ProjectRequired => Ok(()),
        outcome => outcome.map(drop),
    }
}
