//! What `tas-mcp login` prints: the account, and what its key permits.

use serde::Serialize;

use crate::{
    cli::{
        doctor::{DoctorReport, PermissionProbe},
        status::{lines, permission_lines},
    },
    client::KeyPlace,
};

/// The account that was stored.
#[derive(Serialize)]
pub(super) struct LoginOutcome<'a> {
    account: &'a str,
    /// Whether commands use the account if no other one is chosen.
    is_default: bool,
    address: &'a str,
    /// Kind of the key.
    key: Option<&'static str>,
    stored_in: KeyPlace,
    project: Option<String>,
    probes: &'a [PermissionProbe],
}

impl<'a> LoginOutcome<'a> {
    pub(super) fn new(
        report: &'a DoctorReport,
        account: &'a str,
        address: &'a str,
        project: Option<String>,
        stored_in: KeyPlace,
        is_default: bool,
    ) -> Self {
        let (key, probes) = (report.key, report.probes.as_slice());
        Self { account, is_default, address, key, stored_in, project, probes }
    }

    /// Returns a line for each fact.
    pub(super) fn text(&self) -> String {
        let choice = if self.is_default { "used by default" } else { "choose it with --profile" };
        let place = match self.stored_in {
            KeyPlace::Keychain => "in the keychain",
            KeyPlace::File => "in a file that only you can read",
        };
        let project = self.project.as_deref().unwrap_or("decided by the ids or the key (global scope)");

        let facts = [
            ("account", format!("{} ({choice})", self.account)),
            ("address", self.address.to_owned()),
            ("key", format!("{}, stored {place}", self.key.unwrap_or("key"))),
            ("project", project.to_owned()),
        ];
        lines(facts.into_iter().chain(permission_lines(self.probes)))
    }
}
