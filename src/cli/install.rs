//! `tas-mcp install`: adds the server to the configuration of hosts.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches as _, ValueEnum};
use serde_json::Value;

use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    host_change::{EXIT_CODES, HostArguments, change_hosts},
    hosts::{Host, ServerEntry, ServerStart},
    output::{note, print_text},
};
use crate::{
    failure::{Code, Failure},
    settings::{SETTINGS, Settings},
};

/// Commands that the help shows.
const EXAMPLES: [&str; 5] = [
    "tas-mcp install",
    "tas-mcp install claude-code cursor --sandbox",
    "tas-mcp install codex --project demo-project --api-key-file ~/.config/tas/key",
    "tas-mcp install cursor --profile staging",
    "tas-mcp install vscode --http https://tas.example.com/mcp --print",
];

/// What the help says about settings.
const NOTES: &str = "The entry starts this program with the settings of this command, from flags and variables, such as --project, --sandbox, --toolsets and --read-only. The server reads the values of a profile from the configuration file, and --profile chooses the profile. An API key is never written: the entry refers to the file of --api-key-file, or to the variable TAS_API_KEY where the client expands variables; the key of `tas-mcp login` needs neither. Claude Code, VS Code, Codex and Gemini CLI add the entry themselves, by a command that is shown before it runs. For the others, the difference is shown before their file is changed, and the earlier content is kept in a backup beside it.";

/// What a user should know about a server that reaches no service.
const NO_ACCOUNT: &str =
    "note: the server has neither an address nor a key: run `tas-mcp login`, or add --sandbox to try it";

/// What `--print` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The command of the client, or the entry if the client has no command
    Command,
    /// The entry of the file
    Snippet,
    /// An address that opens the client with the entry
    Link,
}

#[derive(Args)]
struct InstallArguments {
    #[command(flatten)]
    hosts: HostArguments,

    /// Connect to the server over HTTP at this address, instead of starting this program
    #[arg(long, value_name = "URL", conflicts_with_all = settings_of_command())]
    http: Option<String>,

    /// Print the command of one client, or the entry of its file; change nothing
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "command")]
    print: Option<Form>,
}

/// Settings that an address can select.
const ADDRESS_SETTINGS: [&str; 3] = ["project", "toolsets", "read-only"];

/// Returns the flags of the settings that an address cannot select.
fn settings_of_command() -> impl Iterator<Item = &'static str> {
    let flags = SETTINGS.iter().map(|setting| setting.flag);
    flags.filter(|flag| !flag.is_empty() && !ADDRESS_SETTINGS.contains(flag))
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("install")
        .about("Adds this server to MCP clients, after showing the change")
        .after_help(help_end(&EXAMPLES, &format!("{NOTES}\n\n{EXIT_CODES}")));

    InstallArguments::augment_args(command)
}

/// Changes the hosts, or prints the change.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = InstallArguments::from_arg_matches(matches)?;
    let server = server_entry(arguments.http.as_deref(), settings)?;
    if let Some(form) = arguments.print {
        print_text(printed(&arguments.hosts.named(), form, &server)?)?;
        return Ok(ExitStatus::Success);
    }

    let selected = arguments.hosts.selected()?;
    selected.0.iter().filter_map(|host| key_note(*host, &server)).for_each(|text| note(&text));

    change_hosts(&arguments.hosts, &selected, Some(&server))
}

/// Returns what the hosts need to know about the server.
fn server_entry(address: Option<&str>, settings: &Settings) -> Result<ServerEntry, CommandError> {
    let start = if let Some(address) = address {
        ServerStart::Address(settings.server_address(address)?)
    } else {
        let directory = std::env::current_dir()?;
        let arguments = settings.server_flags(&directory)?;
        if let Some(text) = settings.files_note(&directory) {
            note(&text);
        }
        if let Some(text) = settings.key_command_note() {
            note(&text);
        }
        if !settings.has_account() {
            note(NO_ACCOUNT);
        }

        ServerStart::Command { program: text(std::env::current_exe()?)?, arguments }
    };

    Ok(ServerEntry { start, key_variable: settings.key_variable() })
}

/// Returns what a user has to do so that the server gets the API key; `None` if the entry is sufficient.
fn key_note(host: Host, server: &ServerEntry) -> Option<String> {
    let name = host.name();
    match (&server.start, server.key_variable) {
        _ if host.key_reference(server).is_some() => None,
        (ServerStart::Address(_), _) => host.entry(server).is_ok().then(|| {
            format!("note: the entry of {name} has no API key: add the header X-Api-Key, or sign in")
        }),
        (ServerStart::Command { .. }, Some(variable)) => Some(format!(
            "note: {name} may not pass {variable} to the server: store the key with `tas-mcp login`, or name its file with --api-key-file"
        )),
        (ServerStart::Command { .. }, None) => None,
    }
}

/// Returns the path as text, which is all that a configuration file can contain.
fn text(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("the path of this program is not Unicode: {}", path.display());
        Failure::new(Code::FileError, message).hint("move the program to another directory")
    })
}

/// Returns the change of the only host in one of the forms.
fn printed(hosts: &[Host], form: Form, server: &ServerEntry) -> Result<String, Failure> {
    let [host] = hosts else {
        return Err(Failure::new(Code::InvalidArguments, "`--print` needs the name of one client"));
    };

    let entry = host.entry(server)?;
    if let Some(text) = key_note(*host, server) {
        note(&text);
    }
    let command = host.add_command(server).filter(|_| form == Form::Command);
    let printed = match command {
        Some(command) => Some(format!("{command}\n")),
        None if form == Form::Link => host.deep_link(&entry).map(|link| format!("{link}\n")),
        None => host.snippet(&Value::Object(entry)),
    };

    printed.ok_or_else(|| {
        let form = if form == Form::Link { "link" } else { "snippet" };
        Failure::new(Code::InvalidArguments, format!("{} has no {form}", host.name()))
            .hint("`--print` prints the command or the entry")
    })
}
