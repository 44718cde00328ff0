//! The result of all checks.

use serde::Serialize;

use super::{hosts::HostCheck, offered_tools::OfferedTools, probes::PermissionProbe};
use crate::{
    cli::exit_status::ExitStatus,
    failure::{Code, Failure},
    http::SetupCheck,
    settings::SettingValue,
};

/// The settings and the results of all checks.
#[derive(Serialize)]
pub(in crate::cli) struct DoctorReport {
    pub(super) version: &'static str,
    pub(in crate::cli) settings: Vec<SettingValue>,
    /// Project of project scope; `None` in global scope.
    pub(super) project: Option<String>,
    pub(in crate::cli) key: Option<&'static str>,
    /// Where the key comes from.
    pub(in crate::cli) key_source: Option<String>,
    /// Directory of the files that tools read and save, or why there is none.
    pub(in crate::cli) files_root: String,
    pub(super) tools: OfferedTools,
    /// Failure that lists the problems of the settings.
    pub(in crate::cli) problem: Option<Failure>,
    pub(super) hosts: Vec<HostCheck>,
    pub(in crate::cli) probes: Vec<PermissionProbe>,
    /// Checks of the HTTP server, if one of its settings is set.
    pub(super) http_setup: Vec<SetupCheck>,
}

impl DoctorReport {
    /// Returns success if at least one operation could be called, otherwise the status of the first failure.
    pub(in crate::cli) fn exit_status(&self) -> ExitStatus {
        if self.http_setup.iter().any(|check| check.is_problem) {
            return Code::NotConfigured.into();
        }
        if self.has_usable_operation() {
            return ExitStatus::Success;
        }

        self.first_failure().map_or(Code::NotConfigured, |failure| failure.code).into()
    }

    /// Returns whether at least one project has accepted the key. The permissions of the key do not matter.
    pub(in crate::cli) fn is_key_accepted(&self) -> bool {
        self.probes.iter().any(PermissionProbe::shows_accepted_key)
    }

    /// Returns the problem of the settings, or the failure of the first check that failed.
    pub(in crate::cli) fn first_failure(&self) -> Option<&Failure> {
        self.problem.iter().chain(self.check_failures()).next()
    }

    /// Returns whether an operation can be called, with the key of the settings or with those of the clients.
    fn has_usable_operation(&self) -> bool {
        let is_served = !self.http_setup.is_empty() && self.check_failures().next().is_none();
        is_served || self.probes.iter().any(|probe| probe.failure.is_none())
    }

    /// Returns the failures of the hosts and of the probes.
    pub(super) fn check_failures(&self) -> impl Iterator<Item = &Failure> {
        let host_failures = self.hosts.iter().filter_map(|host| host.failure.as_ref());
        let probe_failures = self.probes.iter().filter_map(|probe| probe.failure.as_ref());
        host_failures.chain(probe_failures)
    }
}
