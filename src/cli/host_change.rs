//! What `tas-mcp install` and `tas-mcp uninstall` do with each host: read the file, show the change, ask, write.

use std::{io::Write as _, path::Path};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde::Serialize;

use super::{
    command_error::CommandError,
    confirmation::{YES, confirm_change},
    exit_status::ExitStatus,
    host_config::{Change, ConfigFile, Edited, Host, difference, edit, unusable},
    output::{print_json_or_table, status_after_output},
    table::Table,
    tool_arguments::{json_flag, wants_json},
    user_configuration::user_directories,
};
use crate::{
    failure::{Code, Failure},
    settings::UserDirectories,
    text::visible,
};

/// What the help of both commands says about exit codes.
pub(super) const EXIT_CODES: &str = "Exit codes: 0 success, 1 no client is installed or another program has changed a file, 2 invalid arguments, settings or files, or not confirmed";

const CLIENTS: &str = "clients";

/// The result for the configuration of a host.
#[derive(Debug, Serialize)]
struct HostChange {
    client: &'static str,
    outcome: &'static str,
    /// Path of the file. A part that is not Unicode is replaced, so that the output cannot fail after the change.
    file: String,
    /// Path of the file with the earlier content.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
}

/// Returns the arguments of both commands.
pub(super) fn flags() -> [Arg; 3] {
    let clients = Arg::new(CLIENTS).value_name("CLIENT").num_args(0..).value_parser(value_parser!(Host));
    let yes = Arg::new(YES).long(YES).action(ArgAction::SetTrue);

    [
        clients.help("Clients to configure; without a name, all that are installed"),
        yes.help("Do not ask before a file is changed"),
        json_flag(),
    ]
}

/// Returns the hosts that the command names.
pub(super) fn named_hosts(matches: &ArgMatches) -> Vec<Host> {
    let mut hosts: Vec<Host> = Vec::new();
    for host in matches.get_many::<Host>(CLIENTS).into_iter().flatten() {
        if !hosts.contains(host) {
            hosts.push(*host);
        }
    }

    hosts
}

/// Returns the hosts that the command names, or else those that are installed.
///
/// # Errors
/// No host is installed, or the user has no home directory.
pub(super) fn selected_hosts(matches: &ArgMatches) -> Result<(Vec<Host>, UserDirectories), Failure> {
    let directories = user_directories()?;
    let mut hosts = named_hosts(matches);
    if hosts.is_empty() {
        hosts = Host::ALL.into_iter().filter(|host| host.is_installed(&directories)).collect();
    }

    if hosts.is_empty() {
        let names = Host::ALL.map(Host::name).join(", ");
        return Err(Failure::new(Code::NotFound, "no client is installed for this user")
            .hint(format!("name a client to create its file: {names}")));
    }

    Ok((hosts, directories))
}

/// Changes the configuration of each host. A host that fails does not prevent the others.
///
/// # Errors
/// The failures of all hosts.
pub(super) fn change_hosts(
    matches: &ArgMatches,
    hosts: &[Host],
    directories: &UserDirectories,
    change: impl Fn(Host) -> Result<Change, Failure>,
) -> Result<ExitStatus, CommandError> {
    let (mut changes, mut failures) = (Vec::new(), Vec::new());
    for host in hosts {
        let file = host.config_file(directories);
        let outcome =
            change(*host).and_then(|change| change_host(*host, &file, &change, matches.get_flag(YES)));
        match outcome {
            Ok(change) => changes.push(change),
            Err(failure) => failures.push(failure),
        }
    }

    let printed = match changes.as_slice() {
        [] => Ok(()),
        changes => print_json_or_table(&changes, table(changes), wants_json(matches)),
    };
    if failures.is_empty() {
        return Ok(status_after_output(ExitStatus::Success, printed));
    }

    Err(CommandError::Failures(failures))
}

/// Returns a row for each change.
fn table(changes: &[HostChange]) -> Table {
    let header = ["client", "outcome", "file", "backup"];
    let mut table = Table::new(header);
    (0..header.len()).for_each(|column| table.keep_whole(column));

    for HostChange { client, outcome, file, backup } in changes {
        let backup = backup.clone().unwrap_or_default();
        table.add_row([(*client).to_owned(), (*outcome).to_owned(), file.clone(), backup]);
    }

    table
}

/// Changes the configuration of one host in `file`, after the user at the terminal has confirmed the change.
fn change_host(host: Host, file: &Path, change: &Change, is_confirmed: bool) -> Result<HostChange, Failure> {
    let config = ConfigFile::read(file)?;
    let edited = edit(host, config.text(), change).map_err(|error| unusable(file, &error))?;
    let shown = file.display().to_string();
    let Some(edited) = edited else {
        let outcome = if matches!(change, Change::Remove) { "not installed" } else { "unchanged" };
        return Ok(HostChange { client: host.name(), outcome, file: shown, backup: None });
    };

    show(host, file, &edited);
    if !is_confirmed {
        confirm_change(&format!("This changes {}", file.display()), host.name())?;
    }
    let backup = config.replace(&edited.text)?;
    let outcome = match (&edited.before, &edited.after) {
        (_, None) => "removed",
        (None, Some(_)) => "installed",
        (Some(_), Some(_)) => "updated",
    };

    let backup = backup.map(|path| path.display().to_string());
    Ok(HostChange { client: host.name(), outcome, file: shown, backup })
}

/// Shows the change on standard error.
fn show(host: Host, file: &Path, edited: &Edited) {
    let text = format!("{}: {}\n{}", host.name(), file.display(), difference(host, edited));
    // If standard error is closed, nobody is asked; `--yes` has confirmed the change already.
    drop(write!(anstream::stderr(), "{}", visible(&text)));
}
