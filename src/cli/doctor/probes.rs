//! Checks what the key permits, as far as reading operations show it.

use std::time::Instant;

use serde::Serialize;
use serde_json::json;

use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            builds::ListBuilds, configs::ListDeploymentConfigs, knowledge::ListProjectKnowledgeFiles,
            minions::GetMinionDownload, runs::ListRuns, tests::ListTests,
        },
        catalog::{ListedOperation as _, OperationEntry},
        operation::UrlBase,
        tool::Access,
    },
    settings::Settings,
};

/// One call that shows whether the key permits an operation.
#[derive(Serialize)]
pub(in crate::cli) struct PermissionProbe {
    pub(super) operation: &'static str,
    /// Permission that the operation requires.
    pub(in crate::cli) needs: String,
    pub(in crate::cli) project: Option<String>,
    pub(super) milliseconds: u128,
    pub(in crate::cli) failure: Option<Failure>,
}

impl PermissionProbe {
    /// Returns whether the key may be used in the project: every key of the project may call this operation, and this
    /// one did.
    pub(super) fn shows_accepted_key(&self) -> bool {
        self.needs == Access::AnyKey.to_string() && self.failure.is_none()
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
pub(super) async fn run_all(
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
            probes.push(run_probe(caller, entry, arguments, project.clone()).await);
        }
    }

    probes
}

async fn run_probe(
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
