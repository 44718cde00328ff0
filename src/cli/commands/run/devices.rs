//! The devices and builds of a start: `NAME` for all players, or `N=NAME` for one player or slot. A device that is missing is
//! asked for.

use std::{collections::BTreeMap, convert::Infallible, str::FromStr};

use clap::Args;
use serde_json::json;

use crate::{
    cli::{
        calls::{can_ask, declined, read_answer},
        exit_status::CommandError,
        filters::has_words,
        name_resolution::NameResolver,
        named_arguments::{choose_build, runs_on},
        output::{error_width, note, print_error},
        table::{Fit, Table},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Uuid,
            configs::{DeploymentConfig, ListDeploymentConfigs},
            plans::{GetTestPlan, TestPlan},
        },
        arguments::is_uuid,
        catalog::ListedOperation as _,
        lenient::view,
        record_kind::RecordKind,
    },
    tools::{find::FoundRecord, project_client::ProjectClient},
};

const MAX_QUESTIONS: usize = 3;

#[derive(Args)]
pub(super) struct DeviceFlags {
    #[arg(long, value_name = "[N=]NAME")]
    #[arg(
        help = "Name or id of the device; `tas-mcp devices` lists them. `2=NAME`: of player or slot 2. Default: a question"
    )]
    device: Vec<Numbered>,

    #[arg(long, value_name = "[N=]NAME")]
    #[arg(
        help = "Name, words of the name or id of the build, or `latest`. `2=NAME`: of player or slot 2. Default: the service chooses"
    )]
    build: Vec<Numbered>,
}

/// A name for all players, or for the player or slot with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Numbered {
    number: Option<u8>,
    name: String,
}

impl FromStr for Numbered {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let numbered =
            text.split_once('=').and_then(|(number, name)| Some((number.trim().parse().ok()?, name)));
        let (number, name) = numbered.map_or((None, text), |(number, name)| (Some(number), name));
        Ok(Self { number, name: name.trim().to_owned() })
    }
}

/// Devices and builds by the number of the player or slot; `None` stands for all others.
#[derive(Clone, Debug, Default)]
pub(super) struct Devices {
    pub(super) devices: BTreeMap<Option<u8>, String>,
    pub(super) builds: BTreeMap<Option<u8>, String>,
}

impl Devices {
    pub(super) fn from_flags(flags: &DeviceFlags, is_plan: bool) -> Result<Self, Failure> {
        let devices = by_number("device", &flags.device, is_plan)?;
        let builds = by_number("build", &flags.build, is_plan)?;
        let without_device = builds.keys().flatten().find(|number| !devices.contains_key(&Some(**number)));
        if let Some(number) = without_device {
            let message = format!("`--build {number}=...` needs `--device {number}=...`");
            return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"));
        }

        Ok(Self { devices, builds })
    }

    /// Asks for the device where none is named, and for those of the slots of a plan.
    pub(super) async fn complete(
        &mut self,
        resolver: NameResolver<'_>,
        plan: Option<&str>,
    ) -> Result<(), CommandError> {
        if !can_ask() {
            let missing =
                Failure::new(Code::InvalidArguments, "`--device` is missing: where does the test run?")
                    .hint("`tas-mcp devices` lists the devices; nothing was sent");
            return if self.devices.is_empty() { Err(missing.into()) } else { Ok(()) };
        }

        let missing = match plan {
            Some(id) => self.missing_slots(&read_plan(resolver, id).await?),
            None if self.devices.is_empty() => vec![(None, "Device".to_owned())],
            None => Vec::new(),
        };
        if missing.is_empty() {
            return Ok(());
        }

        let all = resolver.newest_records(ListDeploymentConfigs::entry(), Fields::new()).await?.data;
        let mut all: Vec<DeploymentConfig> = all.iter().map(view).collect();
        all.sort_by_key(|device| !device.pinned);
        let mut shown = Vec::new();
        for (number, question) in missing {
            let build = self.builds.get(&number).filter(|build| !is_uuid(build));
            let devices = devices_for(resolver, &all, build).await?;
            let ids: Vec<_> = devices.iter().map(|device| device.id.clone()).collect();
            if shown != ids {
                show(&devices);
            }
            shown = ids;
            self.devices.insert(number, ask_for_device(&question, &devices)?);
        }

        Ok(())
    }

    /// Returns the numbers of the slots without a device, each with the question for it. Slot 1 has no number.
    fn missing_slots(&self, plan: &TestPlan) -> Vec<(Option<u8>, String)> {
        let default = (None, 1, plan.default_slot_name.as_ref());
        let slots = plan.slots.iter().flatten();
        let slots = slots
            .filter_map(|slot| Some((Some(u8::try_from(slot.index).ok()?), slot.index, slot.name.as_ref())));

        let missing =
            std::iter::once(default).chain(slots).filter(|(key, ..)| !self.devices.contains_key(key));
        let question = |(key, number, name): (Option<u8>, _, Option<&String>)| {
            let name = name.map(|name| format!(", {name}")).unwrap_or_default();
            (key, format!("Device for slot {number}{name}"))
        };
        missing.map(question).collect()
    }

    /// Adds the devices and builds to the arguments of a start. `by_number` is the argument for those with numbers.
    pub(super) fn add_to(&self, arguments: &mut Fields, by_number: &str) {
        let mut numbered = Fields::new();
        for (number, device) in &self.devices {
            let Some(number) = number else {
                arguments.insert("deployment_config_id".to_owned(), json!(device));
                continue;
            };
            let entry = match self.builds.get(&Some(*number)) {
                Some(build) => json!({"deployment_config_id": device, "build_id": build}),
                None => json!({"deployment_config_id": device}),
            };
            numbered.insert(number.to_string(), entry);
        }

        if let Some(build) = self.builds.get(&None) {
            arguments.insert("build_id".to_owned(), json!(build));
        }
        if !numbered.is_empty() {
            arguments.insert(by_number.to_owned(), json!(numbered));
        }
    }
}

/// Returns the names by their numbers. Slot 1 of a plan is the default slot, which has no number in a start.
fn by_number(flag: &str, names: &[Numbered], is_plan: bool) -> Result<BTreeMap<Option<u8>, String>, Failure> {
    let mut found = BTreeMap::new();
    for Numbered { number, name } in names {
        let number = number.filter(|number| !(is_plan && *number == 1));
        if found.insert(number, name.clone()).is_some() {
            let which = number.map(|number| format!(" {number}")).unwrap_or_default();
            let message = format!("`--{flag}` names the {flag}{which} twice");
            let hint = "write `N=NAME` for the player or slot N; nothing was sent";
            return Err(Failure::new(Code::InvalidArguments, message).hint(hint));
        }
    }

    Ok(found)
}

async fn read_plan(resolver: NameResolver<'_>, name: &str) -> Result<TestPlan, Failure> {
    let id = resolver.id(RecordKind::TestPlan, name).await?;
    let client =
        ProjectClient { caller: resolver.caller.clone(), project: resolver.project.map(str::to_owned) };
    Ok(client.call(&GetTestPlan { test_plan_id: Uuid(id) }).await?.view::<GetTestPlan>())
}

/// Returns the sentence that names the devices which a plan with slots needs; `None` if the plan has no further slots.
pub(super) async fn slot_advice(resolver: NameResolver<'_>, plan: &str) -> Option<String> {
    let slots = read_plan(resolver, plan).await.ok()?.slots.filter(|slots| !slots.is_empty())?;
    let flags = slots.into_iter().map(|slot| {
        let name = slot.name.unwrap_or_else(|| "DEVICE".to_owned());
        format!("`--device \"{}=...\"` ({name})", slot.index)
    });
    Some(format!("the plan has slots: add {}", flags.collect::<Vec<_>>().join(", ")))
}

fn ask_for_device(question: &str, devices: &[&DeploymentConfig]) -> Result<String, CommandError> {
    for _ in 0..MAX_QUESTIONS {
        let answer = read_answer(&format!("{question} [1-{}, or a name]:", devices.len()))?;
        let Some(answer) = answer.filter(|answer| !answer.is_empty()) else { break };
        match find(devices, &answer).as_slice() {
            [device] => return Ok(device.id.clone()),
            [] => note("no device has this number or name"),
            found => note(&format!("{} devices have these words in their names", found.len())),
        }
    }

    Err(declined().into())
}

async fn devices_for<'a>(
    resolver: NameResolver<'_>,
    all: &'a [DeploymentConfig],
    build: Option<&String>,
) -> Result<Vec<&'a DeploymentConfig>, Failure> {
    let build = match build {
        Some(name) => match choose_build(resolver, name, None).await {
            Ok(build) => Some(build),
            // Which of several builds is meant depends on the device.
            Err(failure) if !failure.facts.choices.is_empty() => None,
            Err(failure) => return Err(failure),
        },
        None => None,
    };

    let fits = |device: &&DeploymentConfig| build.as_ref().is_none_or(|build| fits(device, build));
    let devices: Vec<_> = all.iter().filter(fits).collect();
    if devices.is_empty() {
        let failure = Failure::new(Code::NotFound, "no device fits the build");
        return Err(failure.hint("`tas-mcp devices` lists the devices; nothing was sent"));
    }
    Ok(devices)
}

fn fits(device: &DeploymentConfig, build: &FoundRecord) -> bool {
    let takes_builds = device.provider_type.as_deref().is_none_or(|provider| provider == "build-storage");
    takes_builds && runs_on(build, device.kind.as_deref().unwrap_or_default())
}

fn show(devices: &[&DeploymentConfig]) {
    let mut table = Table::new(["", "device", "platform", "description"]).fitting([0], Fit::Whole);
    for (index, device) in devices.iter().enumerate() {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let number = (index + 1).to_string();
        table.add_row([number, device.name.clone(), text(&device.kind), text(&device.description)]);
    }

    print_error(&table.fit(error_width()).to_string());
}

/// Returns the devices that an answer means: by number, by name or id, or by words of the name.
fn find<'a>(devices: &[&'a DeploymentConfig], answer: &str) -> Vec<&'a DeploymentConfig> {
    let by_number = answer.parse::<usize>().ok().and_then(|number| devices.get(number.checked_sub(1)?));
    let is_named =
        |device: &&&DeploymentConfig| device.name.eq_ignore_ascii_case(answer) || device.id == answer;
    let exact: Vec<_> = by_number.into_iter().chain(devices.iter().filter(is_named)).copied().collect();
    if !exact.is_empty() {
        return exact;
    }

    devices.iter().filter(|device| has_words(&device.name, answer)).copied().collect()
}
