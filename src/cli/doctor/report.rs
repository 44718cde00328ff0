//! The result of all checks.

use serde::Serialize;

use super::{hosts::HostCheck, offered_tools::OfferedTools, probes::PermissionProbe};
use crate::{
    cli::exit_status::ExitStatus,
    failure::{Code, Failure},
    settings::SettingValue,
};

/// The settings and the results of all checks.
#[derive(Serialize)]
pub(super) struct DoctorReport {
    pub(super) version: &'static str,
    pub(super) settings: Vec<SettingValue>,
    /// Project of project scope; `None` in global scope.
    pub(super) project: Option<String>,
    pub(super) key: Option<&'static str>,
    pub(super) tools: OfferedTools,
    /// Failure that lists the problems of the settings.
    pub(super) problem: Option<Failure>,
    pub(super) hosts: Vec<HostCheck>,
    pub(super) probes: Vec<PermissionProbe>,
}

impl DoctorReport {
    /// Returns success if at least one operation could be called, otherwise the status of the first failure.
    pub(super) fn exit_status(&self) -> ExitStatus {
        if self.probes.iter().any(|probe| probe.failure.is_none()) {
            return ExitStatus::Success;
        }

        let failure = self.problem.iter().chain(self.check_failures()).next();
        failure.map_or(Code::NotConfigured, |failure| failure.code).into()
    }

    /// Returns the failures of the hosts and of the probes.
    pub(super) fn check_failures(&self) -> impl Iterator<Item = &Failure> {
        let host_failures = self.hosts.iter().filter_map(|host| host.failure.as_ref());
        let probe_failures = self.probes.iter().filter_map(|probe| probe.failure.as_ref());
        host_failures.chain(probe_failures)
    }
}
