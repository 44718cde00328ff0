//! What the key may do, as far as reading shows it.

use std::time::Instant;

use serde::Serialize;
use serde_json::json;

use crate::{
    call::gateway::Gateway,
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            builds::ListBuilds, configs::ListDeploymentConfigs, knowledge::ListProjectKnowledgeFiles,
            minions::GetMinionDownload, runs::ListRuns, tests::ListTests,
        },
        catalog::{self, OperationEntry},
        operation::{Operation, UrlBase},
        tool::PROJECT_ID,
    },
    settings::Settings,
};

/// Operations that show what the key may do, with arguments that keep the answer small.
const PROBES: [(&str, &str, &str); 6] = [
    (ListTests::NAME, "page_size", "1"),
    (ListRuns::NAME, "page_size", "1"),
    (ListDeploymentConfigs::NAME, "page_size", "1"),
    (ListBuilds::NAME, "page_size", "1"),
    (ListProjectKnowledgeFiles::NAME, "include_metadata", "false"),
    (GetMinionDownload::NAME, "platform", "linux-x86_64"),
];

/// One thing that was tried.
#[derive(Serialize)]
pub(super) struct Probe {
    pub(super) operation: &'static str,
    /// What the operation asks of a key.
    pub(super) needs: String,
    pub(super) project: Option<String>,
    pub(super) milliseconds: u128,
    pub(super) failure: Option<Failure>,
}

/// Tries every probe in every project that is known.
pub(super) async fn try_all(gateway: &Gateway, settings: &Settings) -> Vec<Probe> {
    let mut projects: Vec<_> = settings.listed_projects().into_iter().map(Some).collect();
    if projects.is_empty() || settings.project().is_some() {
        projects = vec![None];
    }

    let mut probes = Vec::new();
    for (name, argument, value) in PROBES {
        let Some(entry) = catalog::find(name).filter(|entry| is_served(entry, settings)) else { continue };
        let of_no_project = entry.request.url_base == UrlBase::Base;
        let projects = if of_no_project { &[None][..] } else { &projects };
        for project in projects {
            let arguments = Fields::from_iter([(argument.to_owned(), json!(value))]);
            probes.push(probe(gateway, entry, arguments, project.clone()).await);
        }
    }

    probes
}

/// Whether there is an address for it: the knowledge host is an option.
fn is_served(entry: &OperationEntry, settings: &Settings) -> bool {
    let has_knowledge =
        settings.tools_config().is_ok_and(|config| config.call.client.knowledge_url.is_some());
    entry.request.url_base != UrlBase::Knowledge || has_knowledge
}

async fn probe(
    gateway: &Gateway,
    entry: &'static OperationEntry,
    mut arguments: Fields,
    project: Option<String>,
) -> Probe {
    if let Some(project) = &project {
        arguments.insert(PROJECT_ID.to_owned(), json!(project));
    }

    let started = Instant::now();
    let failure = gateway.call(entry, arguments).await.err();

    Probe {
        operation: entry.name,
        needs: entry.access.to_string(),
        project,
        milliseconds: started.elapsed().as_millis(),
        failure,
    }
}
