//! The output of the demo: coloured on a terminal, plain in a pipe.

use std::io::Write as _;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use serde_json::Value;

const TITLE: Style = Style::new().bold();
const STEP: Style = AnsiColor::Cyan.on_default().bold();
const CALL: Style = Style::new().dimmed();
const REFUSAL: Style = AnsiColor::Yellow.on_default();
const SUCCESS: Style = AnsiColor::Green.on_default().bold();

/// Maximum length of an argument in the output, in characters.
const MAX_VALUE_CHARS: usize = 60;

/// Writer of the output. Numbers the steps.
pub(super) struct Transcript {
    output: AutoStream<std::io::Stdout>,
    steps: usize,
}

impl Transcript {
    /// Returns a transcript on standard output.
    pub(super) fn new() -> Self {
        Self { output: anstream::stdout(), steps: 0 }
    }

    /// Prints the title.
    pub(super) fn title(&mut self, text: &str) {
        self.print_line(TITLE, text);
    }

    /// Prints plain text.
    pub(super) fn text(&mut self, text: &str) {
        self.print_line(Style::new(), text);
    }

    /// Starts a step with the intention of the assistant.
    pub(super) fn step(&mut self, text: &str) {
        self.steps += 1;
        let text = format!("\n{}. {text}", self.steps);
        self.print_line(STEP, &text);
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) {
        let arguments = arguments.as_object().into_iter().flatten().map(|(name, value)| {
            let value: String = value.to_string().chars().take(MAX_VALUE_CHARS).collect();
            format!("{name}: {value}")
        });
        let text = format!("   > {tool}({})", arguments.collect::<Vec<_>>().join(", "));
        self.print_line(CALL, &text);
    }

    /// Prints a fact from a reply.
    pub(super) fn result(&mut self, text: &str) {
        self.print_line(Style::new(), &format!("     {text}"));
    }

    /// Prints an expected refusal.
    pub(super) fn refusal(&mut self, text: &str) {
        self.print_line(REFUSAL, &format!("     {text}"));
    }

    /// Prints the last line.
    pub(super) fn end(&mut self, text: &str) {
        self.print_line(SUCCESS, &format!("\n{text}"));
    }

    fn print_line(&mut self, style: Style, text: &str) {
        // If standard output is closed, the demo still checks all steps.
        drop(writeln!(self.output, "{style}{text}{style:#}"));
    }
}
