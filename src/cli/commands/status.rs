//! `tas-mcp status`: the accounts, the settings with their origins, and whether the service can be used with them. The output
//! contains no secret, so it can be copied into a bug report.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde::Serialize;

use crate::{
    cli::{
        accounts::{Account, Accounts},
        checks::{Checks, Finding, Mark},
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{JsonFlag, Output, note, terminal_width},
        table::Table,
    },
    settings::{SettingValue, Settings},
    text::single_line,
    tools::files::FilesRoot,
};

const EXAMPLES: [&str; 2] = ["tas-mcp status", "tas-mcp --sandbox status --json"];

const EXIT_CODES: &str = "Exit codes: 0 everything that was checked works, 1 something does not work. A permission that the key lacks is shown, and is no defect.";

/// What decides the project if no setting names one.
pub(super) const GLOBAL_SCOPE: &str = "decided by the ids or the key (global scope)";

#[derive(Args)]
struct StatusArguments {
    #[command(flatten)]
    output: JsonFlag,
}

pub(super) fn command() -> Command {
    let command = Command::new("status")
        .about("Shows accounts and settings, and checks hosts and permissions")
        .after_help(help_end(&EXAMPLES, EXIT_CODES));

    StatusArguments::augment_args(command)
}

#[derive(Serialize)]
struct StatusReport {
    version: &'static str,
    accounts: Vec<Account>,
    settings: Vec<SettingValue>,
    /// Where the key comes from.
    key_source: Option<String>,
    /// Directory of the files that tools read and save, or why there is none.
    files_root: Result<String, String>,
    /// Number of the tools that hosts are offered.
    tools: usize,
    #[serde(flatten)]
    checks: Checks,
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = StatusArguments::from_arg_matches(matches)?;
    let report = StatusReport::of(settings).await;
    let findings = report.findings();
    let failed = findings.iter().filter(|finding| finding.mark == Mark::Fails).count();

    let status = if failed == 0 { ExitStatus::Success } else { ExitStatus::Rejected };
    let verdict = match failed {
        0 => "✓ everything that was checked works".to_owned(),
        1 => "✗ one thing will not work".to_owned(),
        count => format!("✗ {count} things will not work"),
    };

    Output::from(&arguments.output).print(status, &report, || {
        let findings: String = findings.iter().map(ToString::to_string).collect();
        let settings = report.settings_table().fit(terminal_width());
        format!("{}{settings}\n{findings}\n{verdict}\n", report.beginning())
    })
}

impl StatusReport {
    async fn of(settings: &Settings) -> Self {
        let shown = settings.shown_values();
        let value = |name: &str| shown.iter().find(|shown| shown.setting == name);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            accounts: list_accounts(settings).await,
            files_root: files_root(value("TAS_FILES_ROOT")),
            settings: shown,
            key_source: settings.key_origin(),
            tools: settings.selection().tools().count(),
            checks: Checks::make(settings).await,
        }
    }

    fn beginning(&self) -> String {
        let accounts = self.accounts.iter().map(|account| format!("{}\n", account.line()));
        let gap = (!self.accounts.is_empty()).then(|| "\n".to_owned());
        let version = format!("tas-mcp {}\n\n", self.version);

        std::iter::once(version).chain(accounts).chain(gap).collect()
    }

    fn settings_table(&self) -> Table {
        let mut table = Table::new(["setting", "value", "from"]);
        for setting in &self.settings {
            table.add_row([setting.setting, &setting.value, &setting.origin]);
        }
        table
    }

    fn findings(&self) -> Vec<Finding> {
        let works = |subject: &str, found: &str| Finding::new(Mark::Works, subject, found);
        let source = self.key_source.as_ref().map(|source| format!(" (from {source})")).unwrap_or_default();

        let mut found = vec![
            works("project", self.checks.project.as_deref().unwrap_or(GLOBAL_SCOPE)),
            match &self.files_root {
                Ok(root) => works("files", root),
                Err(reason) => Finding::new(Mark::Open, "files", reason),
            },
            works("tools", &format!("{} are offered to hosts", self.tools)),
        ];
        if let Some(key) = self.checks.key {
            let mark = if self.checks.is_key_accepted() { Mark::Works } else { Mark::Open };
            found.push(Finding::new(mark, "key", &format!("{key}{source}")));
        }
        found.extend(self.checks.findings());
        found
    }
}

/// Returns the accounts of the user. Accounts that cannot be listed do not prevent the rest of the status.
async fn list_accounts(settings: &Settings) -> Vec<Account> {
    if settings.wants_sandbox() {
        return Vec::new();
    }

    match Accounts::read() {
        Ok(accounts) => accounts.list(settings.account()).await,
        Err(failure) => {
            note(&format!("note: the accounts cannot be listed: {}", failure.message));
            Vec::new()
        }
    }
}

/// Returns the files root with its origin, or why there is none.
fn files_root(set: Option<&SettingValue>) -> Result<String, String> {
    match (set, FilesRoot::working_directory()) {
        (Some(set), _) => Ok(format!("{} (from {})", set.value, set.origin)),
        (None, Ok(root)) => Ok(format!("{} (the working directory)", root.path().display())),
        (None, Err(failure)) => Err(format!("none: {}", single_line(&failure.message))),
    }
}
