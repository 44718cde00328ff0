//! `tas-mcp doctor`: what is set, what is offered, and whether the service takes the key. Changes nothing; holds no
//! secret, so that it can be copied into a report.

use std::{fmt::Write as _, io::Write as _, time::Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use super::{Exit, table::Table, tools::tokens};
use crate::{
    api::{configs::ListDeploymentConfigs, runs::ListRuns, tests::ListTests},
    catalog,
    config::Settings,
    failure::{Code, Failure},
    gateway::{Gateway, PROJECT_ID},
    operation::{Fields, Operation},
};

/// Operations that show, by reading one record, what the key may do.
const PROBES: [&str; 3] = [ListTests::NAME, ListRuns::NAME, ListDeploymentConfigs::NAME];

/// The command.
pub fn command() -> Command {
    Command::new("doctor")
        .about("Says what is set and whether the service can be used, without changing anything")
        .after_help(Exit::HELP)
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("As JSON"))
}

/// One thing that was tried.
struct Probe {
    operation: &'static str,
    project: Option<String>,
    milliseconds: u128,
    outcome: Result<(), Failure>,
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let gateway = Gateway::new(settings);
    let probes = match gateway.problem() {
        Some(_) => Vec::new(),
        None => probe_all(&gateway, settings).await,
    };
    let exit = verdict(&gateway, &probes);
    let mut output = anstream::stdout();
    if matches.get_flag("json") {
        writeln!(output, "{:#}", as_json(settings, &gateway, &probes))?;
    } else {
        write!(output, "{}", as_text(settings, &gateway, &probes)?)?;
    }
    Ok(exit)
}

async fn probe_all(gateway: &Gateway, settings: &Settings) -> Vec<Probe> {
    let mut projects: Vec<_> = settings.listed_projects().into_iter().map(Some).collect();
    if projects.is_empty() || settings.project().is_some() {
        projects = vec![None];
    }
    let mut probes = Vec::new();
    for project in projects {
        for operation in PROBES {
            probes.extend(probe(gateway, operation, project.clone()).await);
        }
    }
    probes
}

async fn probe(gateway: &Gateway, operation: &'static str, project: Option<String>) -> Option<Probe> {
    let entry = catalog::find(operation)?;
    let mut arguments = Fields::from_iter([("page_size".to_owned(), json!(1))]);
    if let Some(project) = &project {
        arguments.insert(PROJECT_ID.to_owned(), json!(project));
    }
    let started = Instant::now();
    let outcome = gateway.call(entry, arguments).await.map(drop);
    Some(Probe { operation, project, milliseconds: started.elapsed().as_millis(), outcome })
}

/// Usable if anything could be read; else what stands in the way.
fn verdict(gateway: &Gateway, probes: &[Probe]) -> Exit {
    if let Some(problem) = gateway.problem() {
        return problem.code.into();
    }
    if probes.iter().any(|probe| probe.outcome.is_ok()) {
        return Exit::Done;
    }
    let failure = probes.iter().find_map(|probe| probe.outcome.as_ref().err());
    failure.map_or(Exit::Done, |failure| failure.code.into())
}

fn as_json(settings: &Settings, gateway: &Gateway, probes: &[Probe]) -> Value {
    let set = settings
        .found()
        .into_iter()
        .map(|(name, value, origin)| json!({"setting": name, "value": value, "origin": origin}));
    let probes = probes.iter().map(|probe| {
        let failure = probe.outcome.as_ref().err();
        json!({"operation": probe.operation, "project": probe.project, "milliseconds": probe.milliseconds, "failure": failure})
    });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "settings": set.collect::<Vec<_>>(),
        "scope": settings.project().map_or(json!("global"), |project| json!({"project": project})),
        "tools": {"offered": settings.selection().entries().count(), "tokens": cost(settings)},
        "problem": gateway.problem(),
        "probes": probes.collect::<Vec<_>>(),
    })
}

fn as_text(settings: &Settings, gateway: &Gateway, probes: &[Probe]) -> Result<String, std::fmt::Error> {
    let mut text = format!("tas-mcp {}\n\n", env!("CARGO_PKG_VERSION"));
    let mut set = Table::new(["setting", "value", "from"]);
    for (name, value, origin) in settings.found() {
        set.row([name.to_owned(), value.to_owned(), origin.to_owned()]);
    }
    writeln!(text, "{set}")?;
    let scope = settings.project().map_or("global".to_owned(), |project| format!("project `{project}`"));
    let offered = settings.selection().entries().count();
    writeln!(
        text,
        "scope: {scope}\ntools: {offered} offered, about {} tokens in every conversation\n",
        cost(settings)
    )?;
    if let Some(problem) = gateway.problem() {
        writeln!(text, "unusable: {problem}")?;
        return Ok(text);
    }
    let mut tried = Table::new(["reading", "project", "ms", "outcome"]);
    for probe in probes {
        let outcome = probe.outcome.as_ref().err().map_or("ok".to_owned(), outcome);
        let project = probe.project.clone().unwrap_or_default();
        tried.row([probe.operation.to_owned(), project, probe.milliseconds.to_string(), outcome]);
    }
    writeln!(text, "{tried}")?;
    for failure in probes.iter().filter_map(|probe| probe.outcome.as_ref().err()) {
        writeln!(text, "{failure}")?;
    }
    Ok(text)
}

/// The code of a failure, and the permission that it is about.
fn outcome(failure: &Failure) -> String {
    let code = json!(failure.code);
    let code = code.as_str().unwrap_or_default();
    match failure.details.get("required_permission").and_then(Value::as_str) {
        Some(permission) if failure.code == Code::PermissionDenied => format!("{code}: {permission}"),
        _ => code.to_owned(),
    }
}

fn cost(settings: &Settings) -> usize {
    let is_global = settings.project().is_none();
    settings.selection().entries().map(|entry| tokens(entry, is_global).unwrap_or_default()).sum()
}
