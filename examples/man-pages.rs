//! Writes the man pages of the program, and the scripts with which shells complete its command lines, into the directory
//! `completions` beside them: `cargo run --example man-pages -- DIRECTORY`.
//!
//! Each command has a page. The pages of `tas-mcp` and `tas-mcp http` end with a section of the settings.

use std::{
    env,
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::{
    Man,
    roff::{Inline, Roff, bold, italic, roman},
};
use tas_mcp::{
    cli,
    settings::{HTTP_SETTINGS, SETTINGS, Setting},
};

/// The scripts, with the names that shells expect.
const SCRIPTS: [(Shell, &str); 5] = [
    (Shell::Bash, "tas-mcp.bash"),
    (Shell::Zsh, "_tas-mcp"),
    (Shell::Fish, "tas-mcp.fish"),
    (Shell::PowerShell, "tas-mcp.ps1"),
    (Shell::Elvish, "tas-mcp.elv"),
];

fn main() -> anyhow::Result<()> {
    let directory = env::args_os().nth(1).context("name the directory: man-pages DIRECTORY")?;
    let directory = PathBuf::from(directory);

    let written = write_pages(&directory).and_then(|()| write_scripts(&directory.join("completions")));
    written.with_context(|| format!("cannot write the pages into {}", directory.display()))
}

fn write_scripts(directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    SCRIPTS
        .into_iter()
        .try_for_each(|(shell, name)| fs::write(directory.join(name), cli::completion_script(shell)?))
}

fn write_pages(directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut program = cli::program().disable_help_subcommand(true);
    program.build();
    write_page(&program, directory)?;

    append_settings(&directory.join("tas-mcp.1"), &SETTINGS)?;
    append_settings(&directory.join("tas-mcp-http.1"), &HTTP_SETTINGS)
}

/// Writes the page of a command, and those of the commands below it.
fn write_page(command: &Command, directory: &Path) -> std::io::Result<()> {
    for below in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        write_page(below, directory)?;
    }

    // The same source must give the same pages, so they have no date. The next field of the header would take the place
    // of a date of no characters.
    let page = Man::new(command.clone()).date(" ").source(concat!("tas-mcp ", env!("CARGO_PKG_VERSION")));
    page.generate_to(directory).map(drop)
}

/// Appends a section of these settings to a page.
fn append_settings(page: &Path, settings: &[Setting]) -> std::io::Result<()> {
    let mut section = Roff::new();
    section.control("SH", ["SETTINGS"]);
    for setting in settings {
        section.control("TP", []);
        section.text(names(setting));
        section.text([roman(meaning(setting))]);
    }

    section.to_writer(&mut OpenOptions::new().append(true).open(page)?)
}

/// Returns the flag and the variable of a setting.
fn names(setting: &Setting) -> Vec<Inline> {
    let mut names = Vec::new();
    if !setting.flag.is_empty() {
        names.push(bold(format!("--{}", setting.flag)));
        if !setting.value.is_empty() {
            names.extend([roman(" "), italic(format!("<{}>", setting.value))]);
        }
    }

    if !setting.variable.is_empty() {
        let separator = if names.is_empty() { "" } else { ", " };
        names.extend([roman(separator), bold(setting.variable)]);
    }

    names
}

fn meaning(setting: &Setting) -> String {
    let default =
        if setting.default.is_empty() { String::new() } else { format!(". Default: {}", setting.default) };
    format!("{}{default}.", setting.meaning)
}
