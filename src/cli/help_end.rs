//! The end of the help of a command: examples, notes such as the exit codes, and where the settings are described.

/// Where the settings are described.
const SETTINGS_LINE: &str = "Settings of every command: tas-mcp help settings";

/// Returns the end of the help of a command.
pub(super) fn help_end(examples: &[impl AsRef<str>], notes: &str) -> String {
    let examples: Vec<_> = examples.iter().map(AsRef::as_ref).collect();
    let examples = format!("Examples:\n  {}", examples.join("\n  "));

    let mut sections = vec![examples.as_str(), notes, SETTINGS_LINE];
    sections.retain(|section| !section.is_empty());
    sections.join("\n\n")
}
