//! `tas-mcp doctor`: shows the settings, and what works and what does not. The output contains no secret, so it can be copied
//! into a bug report.

use std::io;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};

use super::{
    checks::{Checks, Mark},
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{JsonFlag, print_line, print_table, print_text, status_after_output},
    table::Table,
};
use crate::settings::{SettingValue, Settings};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp doctor", "tas-mcp --sandbox doctor --json"];

/// What the help says about exit codes.
const EXIT_CODES: &str = "Exit codes: 0 everything that was checked works, 1 something does not work, 2 the settings are missing or unusable, 3 the service is not available";

#[derive(Args)]
struct DoctorArguments {
    #[command(flatten)]
    output: JsonFlag,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("doctor")
        .about("Checks settings, hosts and permissions, and changes nothing")
        .after_help(help_end(&EXAMPLES, EXIT_CODES));

    DoctorArguments::augment_args(command)
}

/// Prints what was found.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = DoctorArguments::from_arg_matches(matches)?;
    let checks = Checks::make(settings).await;
    let findings = checks.findings();
    let failed = findings.iter().filter(|finding| finding.mark == Mark::Fails).count();

    let printed = if arguments.output.json {
        print_line(serde_json::to_string_pretty(&checks)?)
    } else {
        let findings: String = findings.iter().map(ToString::to_string).collect();
        print_text(concat!("tas-mcp ", env!("CARGO_PKG_VERSION"), "\n\n"))
            .and_then(|()| print_settings(&checks.settings))
            .and_then(|()| print_text(format!("{findings}\n{}", verdict(failed))))
    };
    let status = match checks.exit_status() {
        ExitStatus::Success if failed > 0 => ExitStatus::Rejected,
        status => status,
    };

    Ok(status_after_output(status, printed))
}

/// Returns what applies to all checks.
fn verdict(failed: usize) -> String {
    match failed {
        0 => "✓ everything that was checked works\n".to_owned(),
        1 => "✗ one thing will not work\n".to_owned(),
        count => format!("✗ {count} things will not work\n"),
    }
}

/// Prints the settings that are set, and an empty line.
fn print_settings(settings: &[SettingValue]) -> io::Result<()> {
    if settings.is_empty() {
        return Ok(());
    }

    let mut table = Table::new(["setting", "value", "from"]);
    for setting in settings {
        table.add_row([setting.setting, &setting.value, &setting.origin]);
    }

    print_table(table).and_then(|()| print_text("\n"))
}
