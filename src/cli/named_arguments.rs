//! Names in the arguments of tools, in place of ids. A build may also be named by words of its name.

use serde_json::{Value, json};

use super::{
    name_resolution::{LATEST, NameResolver, SHORTEST_BEGINNING, begins, single},
    output::note,
    result_resolution::Latest,
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::builds::ListBuilds,
        catalog::ListedOperation as _,
        record_kind::{RecordKind, ResultKind},
        tool::{Effect, ToolDefinition},
    },
    text::composed,
    tools::{
        find::{FoundRecord, NameResult},
        names::platform_family,
    },
};

const DEVICE: &str = "deployment_config_id";
const BUILD: &str = "build_id";

/// The arguments that take the id of a record with a name. The device comes before the build, because a build is chosen
/// for the platform of the device.
const NAMED: [(&str, RecordKind); 12] = [
    ("multiplayer_test_id", RecordKind::Test),
    ("test_id", RecordKind::Test),
    ("test_case_id", RecordKind::Test),
    ("test_plan_id", RecordKind::TestPlan),
    (DEVICE, RecordKind::DeploymentConfig),
    (BUILD, RecordKind::Build),
    ("agent_config_id", RecordKind::AgentConfig),
    ("agent_id", RecordKind::AgentConfig),
    ("folder_id", RecordKind::TestFolder),
    ("parent_folder_id", RecordKind::TestFolder),
    ("shared_step_id", RecordKind::SharedStep),
    ("bug_id", RecordKind::Bug),
];

/// The arguments that take a device and a build for each player or slot.
const DEVICES_BY_NUMBER: [&str; 2] = ["player_deployment_configs", "slot_deployment_configs"];

/// Replaces the names in the arguments of `tool` by ids.
pub(super) async fn resolve(
    resolver: NameResolver<'_>,
    tool: &ToolDefinition,
    arguments: &mut Fields,
) -> Result<(), Failure> {
    // What is deleted, stopped or replaced must be named exactly.
    let accepts_words = matches!(tool.effect, Effect::Reads | Effect::Creates);
    let mut device = None;

    for (argument, kind) in NAMED {
        let Some(name) = named(arguments, argument, kind) else { continue };
        let record = match argument {
            BUILD if accepts_words => choose_build(resolver, &name, device.as_ref()).await?,
            _ => resolver.record(kind, &name).await?,
        };

        if argument == BUILD {
            note(&format!("build: {} ({})", record.name, record.id));
        }
        arguments.insert(argument.to_owned(), json!(record.id));
        if argument == DEVICE {
            device = Some(record);
        }
    }

    for argument in DEVICES_BY_NUMBER {
        let Some(mut devices) = arguments.get(argument).and_then(as_object) else { continue };
        for device in devices.values_mut().filter_map(Value::as_object_mut) {
            Box::pin(resolve(resolver, tool, device)).await?;
        }
        arguments.insert(argument.to_owned(), Value::Object(devices));
    }

    Ok(())
}

/// Returns the build that a user names: by its name or file name, else by words of its name, else by the beginning of its id;
/// `latest` is the newest one. A build for another platform than that of the device is refused.
pub(super) async fn choose_build(
    resolver: NameResolver<'_>,
    name: &str,
    device: Option<&FoundRecord>,
) -> Result<FoundRecord, Failure> {
    let builds = resolver.newest_records(ListBuilds::entry(), Fields::new()).await?;
    for page in &builds.missing.unread {
        tracing::warn!("not all builds could be read: {}", json!(page));
    }

    let builds: Vec<_> =
        builds.data.iter().filter_map(|build| FoundRecord::from_record(RecordKind::Build, build)).collect();
    let platform = device.map(platform).unwrap_or_default();
    let records: Vec<_> = builds_named(&builds, name, platform).into_iter().cloned().collect();
    match device {
        Some(device) if !records.is_empty() && !records.iter().any(|build| runs_on(build, platform)) => {
            Err(wrong_platform(&records, device, &builds))
        }
        _ => Ok(single(&[RecordKind::Build], NameResult::new(name, records))?.0),
    }
}

/// Returns the failure for builds of which none runs on the device, with the newest ones that do.
fn wrong_platform(named: &[FoundRecord], device: &FoundRecord, builds: &[FoundRecord]) -> Failure {
    const MAX_CHOICES: usize = 5;

    let platform = platform(device);
    let fitting = builds.iter().filter(|build| runs_on(build, platform)).take(MAX_CHOICES);
    let choices: Vec<_> = fitting.map(|build| format!("{}: {}", build.name, build.id)).collect();
    let more = if choices.is_empty() { "no build fits" } else { "the newest builds that fit" };
    let message = match named {
        [build] => format!(
            "the build `{}` is for {}, and the device `{}` runs {platform}; {more}",
            build.name,
            self::platform(build),
            device.name
        ),
        several => format!(
            "none of the {} builds that are meant runs on {platform}, as the device `{}` does; {more}",
            several.len(),
            device.name
        ),
    };

    let mut failure = Failure::new(Code::InvalidArguments, message).hint("nothing was sent");
    failure.facts.choices = choices;
    failure
}

/// Returns the builds that have the name, else those whose name contains all its words, else those whose id begins so. Those
/// for the platform are preferred. `builds` begins with the newest, which is `latest`.
fn builds_named<'a>(builds: &'a [FoundRecord], name: &str, platform: &str) -> Vec<&'a FoundRecord> {
    let wanted = words(name);
    let has_name = |build: &FoundRecord| {
        let file = build.more.get("file_name").and_then(Value::as_str).unwrap_or_default();
        [&build.name, file].iter().any(|text| words(text) == wanted)
    };
    let has_words = |build: &FoundRecord| {
        let found = words(&build.name);
        wanted.iter().all(|word| found.contains(word))
    };
    let has_id = |build: &FoundRecord| name.len() >= SHORTEST_BEGINNING && begins(&build.id, name);
    let fits = |build: &FoundRecord| runs_on(build, platform);

    let is_latest = name.eq_ignore_ascii_case(LATEST) && !builds.iter().any(has_name);
    if is_latest {
        return builds.iter().find(|build| fits(build)).or(builds.first()).into_iter().collect();
    }

    let tests: [&dyn Fn(&FoundRecord) -> bool; 3] = [&has_name, &has_words, &has_id];
    let Some(test) = tests.into_iter().find(|test| builds.iter().any(test)) else { return Vec::new() };
    let mut matching: Vec<_> = builds.iter().filter(|build| test(build)).collect();
    if matching.iter().any(|build| fits(build)) {
        matching.retain(|build| fits(build));
    }
    matching
}

/// Returns the platform of a build or of a device; empty if it is not known.
fn platform(record: &FoundRecord) -> &str {
    record.more.get("platform").and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a build can run on a platform, as far as both are known.
pub(super) fn runs_on(build: &FoundRecord, platform: &str) -> bool {
    let own = self::platform(build);
    own.is_empty() || platform.is_empty() || platform_family(own) == platform_family(platform)
}

fn words(name: &str) -> Vec<String> {
    composed(name).split_whitespace().map(str::to_lowercase).collect()
}

/// Replaces names of results in `arguments` by ids: `latest`, or a test or plan whose latest result is meant.
pub(super) async fn resolve_results(
    resolver: NameResolver<'_>,
    arguments: &mut Fields,
) -> Result<(), Failure> {
    let own = ResultKind::ALL.map(|kind| (kind.argument(), kind));
    for (argument, kind) in own.into_iter().chain([("multiplayer_run_id", ResultKind::Run)]) {
        let name = arguments.get(argument).and_then(Value::as_str);
        let is_id = |name: &str| name.is_empty() || RecordKind::Result(kind).may_have_id(name);
        let Some(name) = name.filter(|name| !is_id(name)) else { continue };

        if kind == ResultKind::Run {
            let run = resolver.run(name).await?;
            arguments.insert(argument.to_owned(), json!(run));
            continue;
        }

        let result = resolver.result(name, Latest::Result).await?;
        if result.kind != kind {
            let message = format!("`{name}` is a {}, and not a {}", result.kind.noun(), kind.noun());
            return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"));
        }
        arguments.insert(argument.to_owned(), json!(result.id));
    }

    Ok(())
}

/// Returns the object that an argument holds, as JSON or as its text.
fn as_object(value: &Value) -> Option<Fields> {
    match value {
        Value::Object(object) => Some(object.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn named(arguments: &Fields, argument: &str, kind: RecordKind) -> Option<String> {
    let text = arguments.get(argument)?.as_str()?;
    (!text.is_empty() && !kind.may_have_id(text)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::catalog;

    #[test]
    fn every_named_argument_belongs_to_a_tool() {
        for (argument, _) in NAMED {
            let has_argument =
                |tool: catalog::Tool| tool.input_schema()["properties"].get(argument).is_some();
            assert!(catalog::tools().any(has_argument), "{argument}");
        }
    }
}
