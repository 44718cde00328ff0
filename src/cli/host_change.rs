//! What `tas-mcp install` and `tas-mcp uninstall` do with each host: show the change, ask, and make it or let the host do it.

use std::{io::Write as _, path::Path};

use clap::Args;
use serde::Serialize;

use super::{
    calls::confirm_change,
    exit_status::{CommandError, ExitStatus},
    host_command::HostCommand,
    host_directories::UserDirectories,
    host_file,
    hosts::{ENTRY, Host, ServerEntry},
    output::{JsonFlag, note, print_json_or_table, status_after_output},
    table::Table,
};
use crate::{
    failure::{Code, Failure},
    text::visible,
};

/// What the help of both commands says about exit codes.
pub(super) const EXIT_CODES: &str = "Exit codes: 0 success, 1 no client is installed, the program of a client is missing or fails, or another program has changed a file, 2 invalid arguments, settings or files, or not confirmed";

// A doc comment would become the description of the commands.
#[derive(Args)]
pub(super) struct HostArguments {
    /// Clients to configure; without a name, all that are installed
    #[arg(value_name = "CLIENT")]
    clients: Vec<Host>,

    /// Do not ask before a change
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    output: JsonFlag,
}

/// The result for a host.
#[derive(Serialize)]
struct HostChange {
    client: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Path of the file. A part that is not Unicode is replaced, so that the output cannot fail after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Path of the file with the earlier content.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
}

/// A change of one host.
struct Change<'a> {
    host: Host,
    directories: &'a UserDirectories,
    /// `None` to remove the entry.
    server: Option<&'a ServerEntry>,
    is_confirmed: bool,
}

impl HostArguments {
    /// Returns the hosts that the command names.
    pub(super) fn named(&self) -> Vec<Host> {
        Host::ALL.into_iter().filter(|host| self.clients.contains(host)).collect()
    }

    /// Returns the hosts that the command names, or else those that are installed.
    ///
    /// # Errors
    /// No host is installed, or the user has no home directory.
    pub(super) fn selected(&self) -> Result<(Vec<Host>, UserDirectories), Failure> {
        let directories = UserDirectories::read()?;
        let mut hosts = self.named();
        if hosts.is_empty() {
            hosts = Host::ALL.into_iter().filter(|host| host.is_installed(&directories)).collect();
        }

        if hosts.is_empty() {
            let names = Host::ALL.map(Host::name).join(", ");
            return Err(Failure::new(Code::NotFound, "no client is installed for this user")
                .hint(format!("name a client to configure it: {names}")));
        }

        Ok((hosts, directories))
    }
}

/// Adds the server to each host, or removes it if there is no `server`. A host that fails does not prevent the others.
///
/// # Errors
/// The failures of all hosts.
pub(super) fn change_hosts(
    arguments: &HostArguments,
    (hosts, directories): &(Vec<Host>, UserDirectories),
    server: Option<&ServerEntry>,
) -> Result<ExitStatus, CommandError> {
    let (mut changes, mut failures) = (Vec::new(), Vec::new());
    for host in hosts {
        match (Change { host: *host, directories, server, is_confirmed: arguments.yes }).make() {
            Ok(change) => changes.push(change),
            Err(failure) => failures.push(failure),
        }
    }

    let printed = match changes.as_slice() {
        [] => Ok(()),
        changes => print_json_or_table(&changes, table(changes), arguments.output.json),
    };
    let done = changes.iter().filter(|change| !["unchanged", "not installed"].contains(&change.outcome));
    let names: Vec<_> = done.map(|change| change.client).collect();
    if !names.is_empty() {
        note(&format!("restart the host: {}", names.join(", ")));
    }

    if failures.is_empty() {
        return Ok(status_after_output(ExitStatus::Success, printed));
    }

    Err(CommandError::Failures(failures))
}

/// Returns a row for each change. The commands have been shown.
fn table(changes: &[HostChange]) -> Table {
    let header = ["client", "outcome", "file", "backup"];
    let mut table = Table::new(header);
    (0..header.len()).for_each(|column| table.keep_whole(column));
    for HostChange { client, outcome, file, backup, .. } in changes {
        let [file, backup] = [file, backup].map(|path| path.as_deref().unwrap_or_default());
        table.add_row([*client, *outcome, file, backup]);
    }

    table
}

impl Change<'_> {
    fn make(&self) -> Result<HostChange, Failure> {
        let command = match self.server {
            Some(server) => self.host.add_command(server),
            None => self.host.remove_command(),
        };

        match (command, self.host.file(self.directories)) {
            (None, Some((file, container))) => self.edit(&file, container),
            (Some(command), _) => self.run(&command),
            (None, None) => Err(self.failure(Code::InvalidArguments, "this client cannot be changed")),
        }
    }

    /// Runs a command of the host, after the user at the terminal has confirmed it.
    fn run(&self, command: &HostCommand) -> Result<HostChange, Failure> {
        show(&format!("{}: {command}\n", self.host.name()));
        let program = command.program;
        let file = self.directories.program(program).ok_or_else(|| {
            self.failure(Code::NotFound, &format!("the program `{program}` is not on the PATH"))
                .hint(format!("install `{program}`, or run the command above where it is on the PATH"))
        })?;
        self.confirm("This runs the command above")?;

        let run = |command: &HostCommand| {
            let reason = |error| format!("{} does not start: {error}", file.display());
            command.run(&file).map_err(|error| self.failure(Code::Rejected, &reason(error)))
        };
        let failed = || self.failure(Code::Rejected, &format!("`{program}` has failed")).hint("see above");
        let (succeeded, output) = run(command)?;
        let says = |words: &[&str]| output.lines().any(|line| words.iter().all(|word| line.contains(word)));
        let outcome = match (self.server, self.host.remove_command()) {
            (None, _) if says(&["erver", "found", ENTRY]) => "not installed",
            (None, _) if succeeded => "removed",
            (Some(_), _) if succeeded => "installed",
            // Claude Code does not replace an entry.
            (Some(_), Some(removal)) if says(&["already exists"]) => {
                show(&format!("{}: {removal}\n", self.host.name()));
                let is_replaced = run(&removal)?.0 && run(command)?.0;
                is_replaced.then_some("updated").ok_or_else(failed)?
            }
            _ => return Err(failed()),
        };

        Ok(HostChange { command: Some(command.to_string()), ..self.result(outcome) })
    }

    /// Changes the entry in the file of the host, after the user at the terminal has confirmed it.
    fn edit(&self, path: &Path, container: &str) -> Result<HostChange, Failure> {
        let fields = self.server.map(|server| self.host.entry(server)).transpose()?;
        let file = host_file::read(path)?;
        let edited = host_file::edit(file.text(), container, fields.as_ref());
        let edited = edited.map_err(|reason| host_file::unusable(path, &reason))?;
        let shown = Some(path.display().to_string());
        let Some(edited) = edited else {
            let outcome = if fields.is_some() { "unchanged" } else { "not installed" };
            return Ok(HostChange { file: shown, ..self.result(outcome) });
        };

        let difference = host_file::difference(self.host, &edited, fields.as_ref());
        show(&format!("{}: {}\n{difference}", self.host.name(), path.display()));
        self.confirm(&format!("This changes {}", path.display()))?;
        let backup = host_file::replace(path, &file, &edited)?;
        let outcome = match (&edited.before, &edited.after) {
            (_, None) => "removed",
            (None, Some(_)) => "installed",
            (Some(_), Some(_)) => "updated",
        };

        Ok(HostChange { file: shown, backup, ..self.result(outcome) })
    }

    fn confirm(&self, statement: &str) -> Result<(), Failure> {
        if self.is_confirmed { Ok(()) } else { confirm_change(statement, self.host.name()) }
    }

    fn result(&self, outcome: &'static str) -> HostChange {
        HostChange { client: self.host.name(), outcome, command: None, file: None, backup: None }
    }

    fn failure(&self, code: Code, reason: &str) -> Failure {
        Failure::new(code, format!("{}: {reason}", self.host.name()))
    }
}

/// Shows a change on standard error.
fn show(text: &str) {
    // If standard error is closed, nobody is asked; `--yes` has confirmed the change already.
    drop(write!(anstream::stderr(), "{}", visible(text)));
}
