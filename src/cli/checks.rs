//! The checks of `tas-mcp doctor`, `status` and `login`: which settings are set, whether the hosts can be reached, and what
//! the key permits, as far as reading operations show it. If a setting of the HTTP server is set, the set-up of that server
//! is checked, too. Nothing is changed at the service, and no result contains a secret.

use std::{fmt, time::Instant};

use serde::Serialize;
use serde_json::json;

use super::{command_line_text::without_tool, exit_status::ExitStatus, failure_output::line};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    client::{HostProbe, HostUrl, KeyKind},
    failure::{Code, Failure},
    fields::Fields,
    http::{SetupCheck, check_setup},
    service::{
        api::{
            builds::ListBuilds, configs::ListDeploymentConfigs, knowledge::ListProjectKnowledgeFiles,
            minions::GetMinionDownload, runs::ListRuns, tests::ListTests,
        },
        catalog::{ListedOperation as _, OperationEntry},
        operation::{Operation as _, UrlBase},
        tool::Access,
    },
    settings::{SettingValue, Settings},
    text::single_line,
    tools::files::FilesRoot,
};

/// Maximum difference between the clocks, in seconds. A larger difference invalidates presigned addresses and time limits.
const CLOCK_TOLERANCE_S: i64 = 120;

/// Beginning of the failure of a host.
const PROBE: &str = "doctor: ";

/// Note about the permissions that only writing operations require.
const UNCHECKED_PERMISSIONS: &str =
    "project:operate-runs, project:edit-tests: not checked, because only a change requires them";

/// What does not work without the knowledge host, and what helps.
const WITHOUT_KNOWLEDGE: &str = "not set, so that screenshots, files of runs and knowledge files cannot be read; `tas-mcp login --knowledge-url URL` stores it";

/// What decides the project if no setting names one.
pub(super) const GLOBAL_SCOPE: &str = "decided by the ids or the key (global scope)";

/// The settings and the results of all checks.
#[derive(Serialize)]
pub(super) struct Checks {
    version: &'static str,
    pub(super) settings: Vec<SettingValue>,
    /// Project of project scope; `None` in global scope.
    project: Option<String>,
    pub(super) key: Option<&'static str>,
    /// Where the key comes from.
    key_source: Option<String>,
    /// Directory of the files that tools read and save, or why there is none.
    files_root: String,
    /// Number of the tools that hosts are offered.
    tools: usize,
    /// Failure that lists the problems of the settings.
    problem: Option<Failure>,
    hosts: Vec<HostCheck>,
    pub(super) probes: Vec<PermissionProbe>,
    /// Checks of the HTTP server, if one of its settings is set.
    http_setup: Vec<SetupCheck>,
}

/// Result of the check of one host.
#[derive(Serialize)]
struct HostCheck {
    name: &'static str,
    /// URL of the host; `None` if it is not set.
    address: Option<String>,
    tls: Option<&'static str>,
    reached: Option<HostProbe>,
    failure: Option<Failure>,
}

/// One call that shows whether the key permits an operation.
#[derive(Serialize)]
pub(super) struct PermissionProbe {
    operation: &'static str,
    /// Permission that the operation requires.
    needs: String,
    project: Option<String>,
    milliseconds: u128,
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
    /// It was not checked, or is not needed.
    Open,
}

impl Checks {
    /// Makes the checks. Sends requests only if the settings are usable.
    pub(super) async fn make(settings: &Settings) -> Self {
        let is_http = settings.has_http_values();
        let config =
            if is_http { settings.http_config().map(|(_, config)| config) } else { settings.tools_config() };
        let urls = config.as_ref().ok().map(|config| {
            (config.call.client.base_url.clone(), config.call.client.knowledge_url.clone().ok().flatten())
        });
        let caller = config.map(|config| Caller::new(config.call));
        let key = match &caller {
            Ok(caller) => caller.key_kind().await,
            Err(unusable) => Err(unusable.clone()),
        };
        // Each client of the HTTP server may send its own key.
        let needs_key = !is_http || settings.has_key();
        let problem = key.as_ref().err().filter(|_| needs_key).or(caller.as_ref().err()).cloned();

        let (mut hosts, mut probes) = (Vec::new(), Vec::new());
        if let (Some((base_url, knowledge_url)), Ok(caller), None) = (urls, &caller, &problem) {
            hosts = reach_hosts(caller, &base_url, knowledge_url.as_ref()).await;
            // Probes of an unreachable host would only repeat its failure.
            let is_reached = hosts.first().is_some_and(|main| main.reached.is_some());
            if is_reached && key.is_ok() {
                probes = probe_permissions(caller, settings, knowledge_url.is_some()).await;
            }
        }

        // Unusable settings are reported once.
        let http_setup = match &problem {
            None if is_http => check_setup(settings).await.unwrap_or_default(),
            _ => Vec::new(),
        };

        Self {
            version: env!("CARGO_PKG_VERSION"),
            settings: settings.shown_values(),
            project: settings.project().map(str::to_owned),
            key: key.ok().map(|kind| match kind {
                KeyKind::Project => "key of a project",
                KeyKind::Organization => "key of an organization",
            }),
            key_source: settings.key_origin(),
            files_root: files_root(settings),
            tools: settings.selection().tools().count(),
            problem,
            hosts,
            probes,
            http_setup,
        }
    }

    /// Returns success if at least one operation could be called, otherwise the status of the first failure.
    pub(super) fn exit_status(&self) -> ExitStatus {
        if self.http_setup.iter().any(|check| check.is_problem) {
            return Code::NotConfigured.into();
        }
        let is_served = !self.http_setup.is_empty() && self.failures().next().is_none();
        if is_served || self.probes.iter().any(|probe| probe.failure.is_none()) {
            return ExitStatus::Success;
        }

        self.first_failure().map_or(Code::NotConfigured, |failure| failure.code).into()
    }

    /// Returns whether at least one project has accepted the key. The permissions of the key do not matter: every key of a
    /// project may call one of the operations.
    pub(super) fn is_key_accepted(&self) -> bool {
        let needs = Access::AnyKey.to_string();
        self.probes.iter().any(|probe| probe.needs == needs && probe.failure.is_none())
    }

    /// Returns the problem of the settings, or the failure of the first check that failed.
    pub(super) fn first_failure(&self) -> Option<&Failure> {
        self.problem.iter().chain(self.failures()).next()
    }

    /// Returns the failures of the hosts and of the probes.
    fn failures(&self) -> impl Iterator<Item = &Failure> {
        let of_hosts = self.hosts.iter().filter_map(|host| host.failure.as_ref());
        of_hosts.chain(self.probes.iter().filter_map(|probe| probe.failure.as_ref()))
    }

    /// Returns what was found: each fact and each failure once.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.settings_found();
        if let Some(problem) = &self.problem {
            findings.push(Finding::failed("settings", problem));
            return findings;
        }

        findings.extend(self.hosts_found());
        if self.refused_key().is_none() {
            findings.extend(self.permissions());
        }
        findings.extend(self.http_setup.iter().map(|check| {
            let mark = if check.is_problem { Mark::Fails } else { Mark::Works };
            Finding::new(mark, &check.checked, &check.found)
        }));

        findings
    }

    /// Returns whether the hosts can be reached.
    pub(super) fn hosts_found(&self) -> impl Iterator<Item = Finding> {
        self.hosts.iter().flat_map(HostCheck::findings)
    }

    fn settings_found(&self) -> Vec<Finding> {
        let works = |subject: &str, found: &str| Finding::new(Mark::Works, subject, found);
        let source = self.key_source.as_ref().map(|source| format!(" (from {source})")).unwrap_or_default();
        let address = self.settings.iter().find(|setting| setting.setting == "TAS_BASE_URL");

        let mut found = Vec::new();
        if self.hosts.is_empty() {
            let address = address.map(|address| format!("{} (from {})", address.value, address.origin));
            found.push(Finding::new(Mark::Open, "address", address.as_deref().unwrap_or("not set")));
        }
        let key = format!("{}{source}", self.key.unwrap_or("none"));
        found.push(match self.refused_key() {
            Some(failure) => Finding::failed(&format!("key, {key}"), failure),
            None if self.key.is_some() => works("key", &key),
            None => Finding::new(Mark::Open, "key", &key),
        });
        found.push(works("project", self.project.as_deref().unwrap_or(GLOBAL_SCOPE)));
        found.push(works("files", &self.files_root));
        found.push(works("tools", &format!("{} are offered to hosts", self.tools)));

        found
    }

    /// Returns the failure of every probe if the service does not accept the key.
    fn refused_key(&self) -> Option<&Failure> {
        let failures = self.probes.iter().map(|probe| probe.failure.as_ref());
        let mut refusals = failures.map(|failure| failure.filter(|one| one.code == Code::Unauthenticated));
        let first = refusals.next()??;

        refusals.all(|refusal| refusal.is_some()).then_some(first)
    }

    /// Returns whether the key has each permission. Permissions that are refused for the same reason are named together.
    pub(super) fn permissions(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut refused: Vec<(&Failure, Vec<String>)> = Vec::new();
        for probe in &self.probes {
            let permission = probe.permission();
            let Some(failure) = &probe.failure else {
                found.push(Finding::new(Mark::Works, "may", &permission));
                continue;
            };
            match refused.iter_mut().find(|(known, _)| reason(known) == reason(failure)) {
                Some((_, permissions)) => permissions.push(permission),
                None => refused.push((failure, vec![permission])),
            }
        }

        found.extend(refused.into_iter().map(|(failure, permissions)| {
            Finding::failed(&format!("may not {}", permissions.join(", ")), failure)
        }));
        if !self.probes.is_empty() {
            found.push(Finding::new(Mark::Open, "may", UNCHECKED_PERMISSIONS));
        }
        found
    }
}

/// Returns the message of a failure without the operation.
pub(super) fn reason(failure: &Failure) -> &str {
    let message = without_tool(&failure.message);
    message.strip_prefix(PROBE).unwrap_or(message)
}

impl PermissionProbe {
    /// Returns the permission in the words of a user.
    fn permission(&self) -> String {
        let project = self.project.as_ref().map(|project| format!(" in {project}")).unwrap_or_default();
        let permission = match self.operation {
            ListTests::NAME => "read tests",
            ListProjectKnowledgeFiles::NAME => "read knowledge files",
            _ => self.needs.as_str(),
        };
        format!("{permission}{project}")
    }
}

impl HostCheck {
    async fn of(caller: &Caller, name: &'static str, url_base: UrlBase, url: Option<&HostUrl>) -> Self {
        let (reached, failure) = match caller.check_host(url_base).await {
            None => (None, None),
            Some(Ok(reached)) => (Some(reached), None),
            Some(Err(failure)) => (None, Some(failure)),
        };

        Self {
            name,
            address: url.map(|url| url.as_str().to_owned()),
            tls: url.and_then(|url| describe_tls(url, reached.is_some())),
            reached,
            failure,
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let subject = if self.name == "main" { "address" } else { self.name };
        let Some(address) = &self.address else {
            return vec![Finding::new(Mark::Open, subject, WITHOUT_KNOWLEDGE)];
        };
        if let Some(failure) = &self.failure {
            return vec![Finding::failed(&format!("{subject} {address}"), failure)];
        }

        let milliseconds = self.reached.as_ref().map(|reached| format!(", {} ms", reached.milliseconds));
        let tls = self.tls.map(|tls| format!(", {tls}")).unwrap_or_default();
        let found = format!("{address}{tls}{}", milliseconds.unwrap_or_default());
        let mut findings = vec![Finding::new(Mark::Works, subject, &found)];
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

    fn failed(subject: &str, failure: &Failure) -> Self {
        let failure = failure.clone().visible();
        let (message, hint) = (line(reason(&failure)), line(&failure.hint.to_string()));
        Self { mark: Mark::Fails, subject: subject.to_owned(), found: format!("{message}\n  {hint}") }
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
        match self.mark {
            Mark::Fails => writeln!(formatter, "{mark} {subject}: {}", self.found),
            Mark::Works | Mark::Open => writeln!(formatter, "{mark} {subject:<9} {}", self.found),
        }
    }
}

/// Checks both hosts at the same time.
async fn reach_hosts(caller: &Caller, base_url: &HostUrl, knowledge_url: Option<&HostUrl>) -> Vec<HostCheck> {
    let (main, knowledge) = tokio::join!(
        HostCheck::of(caller, "main", UrlBase::Base, Some(base_url)),
        HostCheck::of(caller, "knowledge", UrlBase::Knowledge, knowledge_url),
    );
    vec![main, knowledge]
}

/// Describes the encryption of the connection; `None` if it is not known because the host was not reached.
fn describe_tls(url: &HostUrl, is_reached: bool) -> Option<&'static str> {
    match (url.is_plain(), is_reached) {
        (true, _) => Some("no TLS: loopback"),
        (false, true) => Some("certificate verified"),
        (false, false) => None,
    }
}

/// Returns the operations to call, each with an argument that keeps the answer small.
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
            probes.push(probe_permission(caller, entry, arguments, project.clone()).await);
        }
    }

    probes
}

async fn probe_permission(
    caller: &Caller,
    entry: &'static OperationEntry,
    arguments: Fields,
    project: Option<String>,
) -> PermissionProbe {
    let common = CommonArguments::in_project(project.as_deref());
    // The time includes the owner look-up and the retries, as in a call of a host.
    let started = Instant::now();
    let failure = caller.call(entry, ToolArguments::new(arguments, common)).await.err();

    PermissionProbe {
        operation: entry.name,
        needs: entry.access.to_string(),
        project,
        milliseconds: started.elapsed().as_millis(),
        failure,
    }
}

/// Returns the files root with its origin, or why there is none.
fn files_root(settings: &Settings) -> String {
    let set = settings.shown_values().into_iter().find(|setting| setting.setting == "TAS_FILES_ROOT");
    match (set, FilesRoot::working_directory()) {
        (Some(set), _) => format!("{} (from {})", set.value, set.origin),
        (None, Ok(root)) => format!("{} (the working directory)", root.path().display()),
        (None, Err(failure)) => format!("none: {}", single_line(&failure.message)),
    }
}
