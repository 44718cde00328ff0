//! Writes the man pages of the program, and the scripts with which shells complete its command lines, into the directory
//! `completions` beside them: `cargo run --example man-pages -- DIRECTORY`.
//!
//! Each command has a page. The section ENVIRONMENT of `tas-mcp` and of `tas-mcp http` has the settings.

use std::{
    env, fs,
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

/// Beginning of the exit codes in a help text.
const EXIT_CODES: &str = "Exit codes: ";

/// The exit codes of a command whose help does not name them.
const OTHER_EXIT_CODES: &str = "0 success, 1 failure, 2 invalid arguments or settings";

/// What the page of a command says about variables.
const EVERY_COMMAND: &str = "Every command reads the variables that tas-mcp(1) describes, such as TAS_BASE_URL, TAS_API_KEY, TAS_PROJECT_ID and TAS_PROFILE. A flag overrides a variable.";

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

    write_page(&program, directory)
}

/// Writes the page of a command, and those of the commands below it.
fn write_page(command: &Command, directory: &Path) -> std::io::Result<()> {
    for below in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        write_page(below, directory)?;
    }

    // The same source must give the same pages, so they have no date. The next field of the header would take the place
    // of a date of no characters.
    let page = Man::new(command.clone()).date(" ").source(concat!("tas-mcp ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        page.render_subcommands_section(&mut text)?;
    }
    end(command).to_writer(&mut text)?;

    fs::write(directory.join(page.get_filename()), text)
}

/// Returns the sections after the options: what the help says after the arguments, the settings, and the examples.
fn end(command: &Command) -> Roff {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (exit_codes, notes): (Vec<_>, Vec<_>) =
        notes.split("\n\n").partition(|paragraph| paragraph.starts_with(EXIT_CODES));
    let exit_codes = exit_codes.first().map_or(OTHER_EXIT_CODES, |text| text.trim_start_matches(EXIT_CODES));

    let mut sections = Roff::new();
    sections.control("SH", ["EXIT STATUS"]).text([roman(exit_codes)]);
    sections.control("SH", ["ENVIRONMENT"]);
    match command.get_name() {
        "tas-mcp" => add_settings(&mut sections, &SETTINGS),
        "http" => add_settings(&mut sections, &HTTP_SETTINGS),
        _ => drop(sections.text([roman(EVERY_COMMAND)])),
    }
    sections.control("SH", ["NOTES"]);
    for note in notes {
        sections.control("PP", []).text([roman(note)]);
    }

    sections.control("SH", ["EXAMPLES"]);
    for example in examples(command) {
        sections.control("PP", []).text([bold(example)]);
    }
    sections
}

/// Returns the examples at the beginning of the help.
fn examples(command: &Command) -> Vec<String> {
    let beginning = command.get_before_help().map(ToString::to_string).unwrap_or_default();
    let lines = beginning.lines().skip(1).take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Adds these settings to a section.
fn add_settings(section: &mut Roff, settings: &[Setting]) {
    for setting in settings {
        section.control("TP", []);
        section.text(names(setting));
        section.text([roman(meaning(setting))]);
    }
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
