//! `tas-mcp doctor`: what is set, what is offered, which hosts can be reached, and what the key may do. Changes nothing;
//! holds no secret, so that it can be copied into a report.

use std::io::Write as _;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Serialize;

use super::{Exit, tools::tokens};
use crate::{
    call::gateway::Gateway,
    client::KeyKind,
    failure::{Code, Failure},
    service::tool::Toolset,
    settings::Settings,
    tools::catalog::ToolEntry,
};

mod hosts;
mod probes;
mod text;

use self::{hosts::Host, probes::Probe};

/// The command.
pub fn command() -> Command {
    Command::new("doctor")
        .about("Says what is set and whether the service can be used, without changing anything")
        .after_help(Exit::HELP)
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("As JSON"))
}

/// Everything that was found out.
#[derive(Serialize)]
struct Report {
    version: &'static str,
    settings: Vec<Found>,
    /// Project of project scope; `None`: global scope.
    project: Option<String>,
    key: Option<&'static str>,
    tools: Tools,
    /// What makes the settings unusable.
    problem: Option<Failure>,
    hosts: Vec<Host>,
    probes: Vec<Probe>,
}

/// A setting that is set.
#[derive(Serialize)]
struct Found {
    setting: &'static str,
    value: String,
    origin: String,
}

/// What hosts are offered, and what it costs them.
#[derive(Serialize)]
struct Tools {
    offered: usize,
    tokens: usize,
    sets: Vec<Offered>,
}

/// The offered tools of one set.
#[derive(Serialize)]
struct Offered {
    set: &'static str,
    tools: Vec<&'static str>,
    tokens: usize,
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let report = examine(settings).await;
    let mut output = anstream::stdout();

    if matches.get_flag("json") {
        writeln!(output, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(output, "{}", text::of(&report)?)?;
    }

    Ok(report.verdict())
}

async fn examine(settings: &Settings) -> Report {
    let gateway = Gateway::new(settings.tools_config().map(|config| config.call));
    let problem = gateway.settings_failure().cloned();
    let hosts = if problem.is_none() { hosts::reach_all(&gateway, settings).await } else { Vec::new() };
    let is_there = hosts.first().is_some_and(|main| main.reached.is_some());
    let probes = if is_there { probes::try_all(&gateway, settings).await } else { Vec::new() };

    Report {
        version: env!("CARGO_PKG_VERSION"),
        settings: settings.found().into_iter().map(Found::from).collect(),
        project: settings.project().map(str::to_owned),
        key: gateway.key_kind().map(|kind| match kind {
            KeyKind::Project => "key of a project",
            KeyKind::Organization => "key of an organization",
        }),
        tools: tools(settings),
        problem,
        hosts,
        probes,
    }
}

impl Report {
    /// Usable if anything could be read; else what stands in the way.
    fn verdict(&self) -> Exit {
        if self.probes.iter().any(|probe| probe.failure.is_none()) {
            return Exit::Done;
        }

        let of_hosts = self.hosts.iter().filter_map(|host| host.failure.as_ref());
        let of_probes = self.probes.iter().filter_map(|probe| probe.failure.as_ref());
        let failure = self.problem.iter().chain(of_hosts).chain(of_probes).next();

        failure.map_or(Code::NotConfigured, |failure| failure.code).into()
    }
}

impl From<(&'static str, &str, &str)> for Found {
    fn from((setting, value, origin): (&'static str, &str, &str)) -> Self {
        Self { setting, value: value.to_owned(), origin: origin.to_owned() }
    }
}

fn tools(settings: &Settings) -> Tools {
    let is_global = settings.project().is_none();
    let selection = settings.selection();
    let cost = |entry: &ToolEntry| tokens(entry.tool(), is_global).unwrap_or_default();
    let sets = Toolset::ALL.iter().map(|set| {
        let offered: Vec<_> = selection.tools().filter(|tool| tool.toolset == *set).collect();
        let tokens = offered.iter().map(cost).sum();
        Offered { set: set.name(), tools: offered.iter().map(|tool| tool.name).collect(), tokens }
    });
    let sets: Vec<_> = sets.filter(|set| !set.tools.is_empty()).collect();

    Tools { offered: selection.tools().count(), tokens: sets.iter().map(|set| set.tokens).sum(), sets }
}
