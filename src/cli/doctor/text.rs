//! The report, for people.

use std::fmt::{Error, Write as _};

use serde_json::json;

use super::{Host, Probe, Report, hosts::CLOCK_TOLERANCE_S};
use crate::cli::table::Table;

/// Permissions that only a change would show.
const UNTOLD: &str = "not tried, since only a change shows them: project:operate-runs, project:edit-tests";

/// The report in tables.
pub(super) fn of(report: &Report) -> Result<String, Error> {
    let mut text = format!("tas-mcp {}\n\n", report.version);
    let mut set = Table::new(["setting", "value", "from"]);

    for one in &report.settings {
        set.row([one.setting.to_owned(), one.value.clone(), one.origin.clone()]);
    }

    writeln!(text, "{set}")?;
    let scope = report.project.as_ref().map_or("global".to_owned(), |project| format!("project `{project}`"));
    writeln!(text, "scope: {scope}")?;
    writeln!(text, "key:   {}", report.key.unwrap_or("none"))?;

    let tools = &report.tools;
    writeln!(
        text,
        "tools: {} offered, about {} tokens in every conversation\n",
        tools.offered, tools.tokens
    )?;

    let mut sets = Table::new(["set", "tools", "tokens"]);
    for set in &tools.sets {
        sets.row([set.set.to_owned(), set.tools.len().to_string(), set.tokens.to_string()]);
    }

    writeln!(text, "{sets}")?;
    if let Some(problem) = &report.problem {
        writeln!(text, "unusable: {problem}")?;
        return Ok(text);
    }

    writeln!(text, "{}", hosts(&report.hosts))?;
    if !report.probes.is_empty() {
        writeln!(text, "{}{UNTOLD}", probes(&report.probes))?;
    }

    complaints(&mut text, report)?;

    Ok(text)
}

fn probes(probes: &[Probe]) -> Table {
    let mut table = Table::new(["tried", "needs", "project", "ms", "outcome"]);
    for probe in probes {
        let outcome = probe
            .failure
            .as_ref()
            .map_or("ok".to_owned(), |failure| json!(failure.code).as_str().unwrap_or_default().to_owned());
        let (operation, needs) = (probe.operation.to_owned(), probe.needs.clone());
        let project = probe.project.clone().unwrap_or_default();
        table.row([operation, needs, project, probe.milliseconds.to_string(), outcome]);
    }

    table
}

fn hosts(hosts: &[Host]) -> Table {
    let mut table = Table::new(["host", "address", "proxy", "TLS", "answered", "ms", "clock"]);
    for host in hosts {
        let reached = host.reached.as_ref();
        let clock = reached.and_then(|reached| reached.clock_ahead_s).map(|ahead| format!("{ahead:+} s"));
        table.row([
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

/// What went wrong, with what to do.
fn complaints(text: &mut String, report: &Report) -> Result<(), Error> {
    let late = report.hosts.iter().filter(|host| host.has_other_time());
    for host in late {
        let limit = CLOCK_TOLERANCE_S;
        writeln!(
            text,
            "\nthe clocks of this machine and of the {} host are more than {limit} s apart",
            host.name
        )?;
    }

    let of_hosts = report.hosts.iter().filter_map(|host| host.failure.as_ref());
    let of_probes = report.probes.iter().filter_map(|probe| probe.failure.as_ref());

    for failure in of_hosts.chain(of_probes) {
        writeln!(text, "\n{failure}")?;
        if let Some(hint) = &failure.hint {
            writeln!(text, "  {hint}")?;
        }
    }

    Ok(())
}
