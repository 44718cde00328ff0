//! The report as text.

use serde_json::json;

use super::{
    hosts::{CLOCK_TOLERANCE_S, HostCheck},
    offered_tools::OfferedTools,
    probes::PermissionProbe,
    report::DoctorReport,
};
use crate::{
    cli::table::Table, failure::Failure, http::SetupCheck, settings::SettingValue, text::single_line,
};

/// Note about the permissions that only writing operations require.
const UNCHECKED_PERMISSIONS: &str =
    "not checked, because only a change requires them: project:operate-runs, project:edit-tests";

/// Returns the report as tables and messages.
pub(super) fn render(report: &DoctorReport) -> String {
    let tools = &report.tools;
    let scope = report.project.as_ref().map_or("global".to_owned(), |project| format!("project `{project}`"));
    let key_source = report.key_source.as_ref().map(|source| format!(" (from {source})"));
    let key = format!("{}{}", report.key.unwrap_or("none"), key_source.unwrap_or_default());
    let mut sections = vec![
        format!("tas-mcp {}\n", report.version),
        format!(
            "{}\nscope: {}\nkey:   {}\nfiles: {}\ntools: {} offered, about {} tokens in every conversation\n",
            settings_table(&report.settings),
            single_line(&scope),
            single_line(&key),
            single_line(&report.files_root),
            tools.offered,
            tools.tokens,
        ),
        toolset_table(tools).to_string(),
    ];

    if let Some(problem) = &report.problem {
        sections.push(format!("unusable: {}\n", single_line(&problem.message)));
        return sections.join("\n");
    }

    sections.push(host_table(&report.hosts).to_string());
    if !report.probes.is_empty() {
        sections.push(format!("{}{UNCHECKED_PERMISSIONS}\n", probe_table(&report.probes)));
    }
    if !report.http_setup.is_empty() {
        sections.push(setup_table(&report.http_setup).to_string());
    }
    sections.extend(report.hosts.iter().filter(|host| host.has_wrong_clock()).map(clock_message));
    sections.extend(report.check_failures().map(failure_message));

    sections.join("\n")
}

fn settings_table(settings: &[SettingValue]) -> Table {
    let mut table = Table::new(["setting", "value", "from"]);
    for setting in settings {
        table.add_row([setting.setting, &setting.value, &setting.origin]);
    }

    table
}

fn toolset_table(tools: &OfferedTools) -> Table {
    let mut table = Table::new(["set", "tools", "tokens"]);
    for set in &tools.sets {
        table.add_row([set.set.to_owned(), set.tools.len().to_string(), set.tokens.to_string()]);
    }

    table
}

fn probe_table(probes: &[PermissionProbe]) -> Table {
    let mut table = Table::new(["checked", "needs", "project", "ms", "outcome"]);
    for probe in probes {
        let outcome = match &probe.failure {
            None => "ok".to_owned(),
            Some(failure) => json!(failure.code).as_str().unwrap_or_default().to_owned(),
        };
        let project = probe.project.as_deref().unwrap_or_default();
        table.add_row([probe.operation, &probe.needs, project, &probe.milliseconds.to_string(), &outcome]);
    }

    table
}

fn setup_table(checks: &[SetupCheck]) -> Table {
    let mut table = Table::new(["HTTP server", "outcome", "found"]);
    for check in checks {
        let outcome = if check.is_problem { "problem" } else { "ok" };
        table.add_row([check.checked.as_str(), outcome, &single_line(&check.found)]);
    }

    table
}

fn host_table(hosts: &[HostCheck]) -> Table {
    let mut table = Table::new(["host", "address", "proxy", "TLS", "status", "ms", "clock"]);
    for host in hosts {
        let reached = host.reached.as_ref();
        let clock = reached.and_then(|reached| reached.clock_ahead_s).map(|ahead| format!("{ahead:+} s"));
        table.add_row([
            host.name.to_owned(),
            host.address.clone().unwrap_or("not set".to_owned()),
            host.proxy.clone().unwrap_or("none".to_owned()),
            host.tls.unwrap_or_default().to_owned(),
            reached.map_or(String::new(), |reached| reached.status.to_string()),
            reached.map_or(String::new(), |reached| reached.milliseconds.to_string()),
            clock.unwrap_or_default(),
        ]);
    }

    table
}

fn clock_message(host: &HostCheck) -> String {
    let (limit, name) = (CLOCK_TOLERANCE_S, host.name);
    format!("the clocks of this machine and of the {name} host differ by more than {limit} s\n")
}

fn failure_message(failure: &Failure) -> String {
    format!("{}\n  {}\n", single_line(&failure.message), single_line(&failure.hint.to_string()))
}
