//! The checks of `tas-mcp status` and `login`: whether the settings can be used, whether the hosts can be reached, and what the
//! key permits, as far as reading operations show it. Nothing is changed at the service, and no result contains a secret.

use std::fmt;

use serde::Serialize;
use serde_json::json;

use super::{command_names::without_tool, failure_output};
use crate::{
    call::{Caller, CommonArguments, ToolArguments},
    client::{HostProbe, HostUrl, KeyKind},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            builds::ListBuilds, configs::GetMinionDownload, configs::ListDeploymentConfigs,
            files::ListProjectKnowledgeFiles, runs::ListRuns, tests::ListTests, uploads::InitiateBuildUpload,
        },
        catalog::{ListedOperation as _, OperationEntry},
        operation::UrlBase,
        tool::Access,
    },
    settings::Settings,
    text::single_line,
    tools::context::ToolsConfig,
};

/// Maximum difference between the clocks, in seconds. A larger difference invalidates presigned addresses and time limits.
const CLOCK_TOLERANCE_S: i64 = 120;

/// Beginning of the failure of a host.
const PROBE: &str = "status: ";

/// Note about the permissions that only writing operations require.
const UNCHECKED_PERMISSIONS: &str = "start runs (project:operate-runs), change tests (project:edit-tests): not checked, because only a change shows it";

/// What does not work without the knowledge host, and what helps.
const WITHOUT_KNOWLEDGE: &str = "not set, so that screenshots, files of runs and knowledge files cannot be read; `tas-mcp login --knowledge-url URL` stores it";

#[derive(Default, Serialize)]
pub(super) struct Checks {
    /// Kind of the key.
    pub(super) key: Option<&'static str>,
    /// Project of project scope, or that of the key; `None` if the ids of a call decide it.
    pub(super) project: Option<String>,
    /// Failure that lists the problems of the settings.
    problem: Option<Failure>,
    hosts: Vec<HostCheck>,
    pub(super) probes: Vec<PermissionProbe>,
}

#[derive(Serialize)]
struct HostCheck {
    name: &'static str,
    /// URL of the host; `None` if it is not set.
    address: Option<String>,
    reached: Option<HostProbe>,
    failure: Option<Failure>,
}

/// One call that shows whether the key permits an operation.
#[derive(Serialize)]
pub(super) struct PermissionProbe {
    operation: &'static str,
    /// What the operation does.
    #[serde(skip)]
    title: &'static str,
    /// Permission that the operation requires.
    needs: String,
    project: Option<String>,
    failure: Option<Failure>,
}

/// What a check has found, as users see it.
pub(super) struct Finding {
    pub(super) mark: Mark,
    subject: String,
    found: String,
}

/// Whether something works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Works,
    Fails,
    /// It was not checked, or is not needed or permitted.
    Open,
}

impl Checks {
    /// Makes the checks. Sends requests only if the settings are usable.
    pub(super) async fn make(settings: &Settings) -> Self {
        // Each client of the HTTP server may send its own key.
        let needs_key = !settings.has_http_values() || settings.has_key();
        let config = if settings.has_http_values() {
            settings.http_config().map(|(_, config)| config)
        } else {
            settings.tools_config()
        };

        match config {
            Ok(config) => Self::of_config(config, needs_key, settings).await,
            Err(problem) => Self { problem: Some(problem), ..Self::default() },
        }
    }

    async fn of_config(config: ToolsConfig, needs_key: bool, settings: &Settings) -> Self {
        let client = &config.call.client;
        let base_url = client.base_url.clone();
        let knowledge_url = client.knowledge_url.clone().ok().flatten();
        let caller = Caller::new(config.call);
        let key = match caller.client().key().await {
            Ok(key) => Some(key_text(key.kind())),
            Err(problem) if needs_key => return Self { problem: Some(problem), ..Self::default() },
            Err(_) => None,
        };

        let (main, knowledge) = tokio::join!(
            HostCheck::of(&caller, "address", UrlBase::Base, Some(&base_url)),
            HostCheck::of(&caller, "knowledge", UrlBase::Knowledge, knowledge_url.as_ref()),
        );
        // Probes of an unreachable host would only repeat its failure.
        let probes = if main.reached.is_some() && key.is_some() {
            probe_permissions(&caller, settings, knowledge_url.is_some()).await
        } else {
            Vec::new()
        };
        let checks = Self { key, problem: None, project: None, hosts: vec![main, knowledge], probes };
        let project = match settings.project() {
            Some(project) => Some(project.to_owned()),
            // The path of this operation contains the project, so that the project of the key is looked up.
            None if checks.is_key_accepted() => {
                caller.resolve_project(InitiateBuildUpload::entry(), None).await.ok().flatten()
            }
            None => None,
        };
        Self { project, ..checks }
    }

    /// Returns whether at least one project has accepted the key. The permissions of the key do not matter: every key of a
    /// project may call one of the operations.
    pub(super) fn is_key_accepted(&self) -> bool {
        let needs = Access::AnyKey.to_string();
        self.probes.iter().any(|probe| probe.needs == needs && probe.failure.is_none())
    }

    /// Returns the problem of the settings, or the failure of the first check that failed.
    pub(super) fn first_failure(&self) -> Option<&Failure> {
        let of_hosts = self.hosts.iter().filter_map(|host| host.failure.as_ref());
        let of_probes = self.probes.iter().filter_map(|probe| probe.failure.as_ref());
        self.problem.iter().chain(of_hosts).chain(of_probes).next()
    }

    /// Returns what was found about the settings, the hosts, the key and its permissions: each failure once.
    pub(super) fn findings(&self) -> Vec<Finding> {
        if let Some(problem) = &self.problem {
            return vec![Finding::failed("settings", problem)];
        }

        let mut findings: Vec<_> = self.hosts.iter().flat_map(HostCheck::findings).collect();
        let refusal = |probe: &PermissionProbe| {
            probe.failure.as_ref().is_some_and(|failure| failure.code == Code::Unauthenticated)
        };
        match self.probes.first() {
            Some(PermissionProbe { failure: Some(failure), .. }) if self.probes.iter().all(refusal) => {
                findings.push(Finding::failed("key", failure));
            }
            Some(_) => {
                findings.extend(self.probes.iter().map(PermissionProbe::finding));
                findings.push(Finding::new(Mark::Open, "may", UNCHECKED_PERMISSIONS));
            }
            None => {}
        }
        findings
    }
}

fn key_text(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Project => "key of a project",
        KeyKind::Organization => "key of an organization",
    }
}

pub(super) fn reason(failure: &Failure) -> &str {
    let message = without_tool(&failure.message);
    message.strip_prefix(PROBE).unwrap_or(message)
}

impl PermissionProbe {
    /// A missing permission is no defect: a key for reading does not need all of them.
    fn finding(&self) -> Finding {
        let project = self.project.as_ref().map(|project| format!(" in {project}")).unwrap_or_default();
        // Every key may call an operation that needs no permission.
        let needs = Some(&self.needs).filter(|needs| needs.contains(':'));
        let needs = needs.map(|needs| format!(" ({needs})")).unwrap_or_default();
        let action = format!("{}{project}{needs}", self.title.to_lowercase());

        let Some(failure) = &self.failure else {
            return Finding::new(Mark::Works, "may", &action);
        };
        // A key that no operation accepts is reported as such.
        let is_refused = matches!(failure.code, Code::PermissionDenied | Code::Unauthenticated);
        let mark = if is_refused { Mark::Open } else { Mark::Fails };
        Finding { mark, ..Finding::failed(&format!("may not {action}"), failure) }
    }
}

impl HostCheck {
    async fn of(caller: &Caller, name: &'static str, url_base: UrlBase, url: Option<&HostUrl>) -> Self {
        let (reached, failure) = match caller.client().probe(url_base).await {
            None => (None, None),
            Some(Ok(reached)) => (Some(reached), None),
            Some(Err(failure)) => (None, Some(failure)),
        };
        Self { name, address: url.map(|url| url.as_str().to_owned()), reached, failure }
    }

    fn findings(&self) -> Vec<Finding> {
        let Some(address) = &self.address else {
            return vec![Finding::new(Mark::Open, self.name, WITHOUT_KNOWLEDGE)];
        };
        if let Some(failure) = &self.failure {
            return vec![Finding::failed(&format!("{} {address}", self.name), failure)];
        }

        let milliseconds = self.reached.as_ref().map(|reached| format!(", {} ms", reached.milliseconds));
        let found = format!("{address}{}", milliseconds.unwrap_or_default());
        let mut findings = vec![Finding::new(Mark::Works, self.name, &found)];
        if let Some(ahead) = self.reached.as_ref().and_then(|reached| reached.clock_ahead_s)
            && ahead.abs() > CLOCK_TOLERANCE_S
        {
            let found = format!(
                "the clocks of this machine and of {address} differ by more than {CLOCK_TOLERANCE_S} s ({ahead:+} s)"
            );
            findings.push(Finding::new(Mark::Fails, "clock", &found));
        }

        findings
    }
}

impl Finding {
    pub(super) fn new(mark: Mark, subject: &str, found: &str) -> Self {
        Self { mark, subject: subject.to_owned(), found: single_line(found) }
    }

    /// Returns what does not work, with a line that says what to do.
    fn failed(subject: &str, failure: &Failure) -> Self {
        let failure = failure.clone().visible();
        let (message, hint) = (single_line(reason(&failure)), failure_output::hint(&failure.hint));
        Self {
            mark: Mark::Fails,
            subject: subject.to_owned(),
            found: format!("{message}\n             {hint}"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.mark {
            Mark::Works => '✓',
            Mark::Fails => '✗',
            Mark::Open => '-',
        };
        let subject = single_line(&self.subject);
        writeln!(formatter, "{mark} {subject:<9}  {}", self.found)
    }
}

/// The operations to call, each with an argument that keeps the answer small.
fn probed_operations() -> [(&'static OperationEntry, &'static str, &'static str); 6] {
    [
        (ListTests::entry(), "page_size", "1"),
        (ListRuns::entry(), "page_size", "1"),
        (ListDeploymentConfigs::entry(), "page_size", "1"),
        (ListBuilds::entry(), "page_size", "1"),
        (ListProjectKnowledgeFiles::entry(), "include_metadata", "false"),
        (GetMinionDownload::entry(), "platform", "linux-x86_64"),
    ]
}

/// Calls every operation in every known project, and operations without a project once.
async fn probe_permissions(
    caller: &Caller,
    settings: &Settings,
    has_knowledge_host: bool,
) -> Vec<PermissionProbe> {
    let mut projects: Vec<_> = settings.server().projects.iter().cloned().map(Some).collect();
    if projects.is_empty() || settings.project().is_some() {
        // The key or the settings determine the project.
        projects = vec![None];
    }

    let mut probes = Vec::new();
    for (entry, argument, value) in probed_operations() {
        if entry.request.url_base == UrlBase::Knowledge && !has_knowledge_host {
            continue;
        }

        // Operations at this URL do not belong to a project.
        let has_project = entry.request.url_base != UrlBase::Base;
        let projects = if has_project { &projects } else { &[None][..] };
        for project in projects {
            let arguments = Fields::from_iter([(argument.to_owned(), json!(value))]);
            let arguments = ToolArguments::new(arguments, CommonArguments::in_project(project.as_deref()));
            let failure = caller.call(entry, arguments).await.err();
            let (needs, project) = (entry.access.to_string(), project.clone());
            let (operation, title) = (entry.name, entry.title);
            probes.push(PermissionProbe { operation, title, needs, project, failure });
        }
    }

    probes
}
