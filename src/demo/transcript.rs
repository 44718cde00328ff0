//! What the demo tells: coloured on a terminal, plain in a pipe.

use std::io::Write;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use serde_json::Value;

const TITLE: Style = Style::new().bold();
const STEP: Style = AnsiColor::Cyan.on_default().bold();
const CALL: Style = Style::new().dimmed();
const REFUSED: Style = AnsiColor::Yellow.on_default();
const DONE: Style = AnsiColor::Green.on_default().bold();

/// Longest value of an argument that is shown whole, in characters.
const LONGEST_VALUE: usize = 60;

pub(super) struct Transcript {
    output: AutoStream<std::io::Stdout>,
    steps: usize,
}

impl Transcript {
    pub(super) fn new() -> Self {
        Self { output: anstream::stdout(), steps: 0 }
    }

    pub(super) fn title(&mut self, text: &str) {
        self.line(TITLE, text);
    }

    pub(super) fn said(&mut self, text: &str) {
        self.line(Style::new(), text);
    }

    /// Begins a step: what the assistant wants.
    pub(super) fn step(&mut self, text: &str) {
        self.steps += 1;
        let text = format!("\n{}. {text}", self.steps);
        self.line(STEP, &text);
    }

    /// The call of a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) {
        let arguments = arguments.as_object().into_iter().flatten().map(|(name, value)| {
            let value: String = value.to_string().chars().take(LONGEST_VALUE).collect();
            format!("{name}: {value}")
        });
        let text = format!("   > {tool}({})", arguments.collect::<Vec<_>>().join(", "));
        self.line(CALL, &text);
    }

    /// Something that the answer shows.
    pub(super) fn found(&mut self, text: &str) {
        self.line(Style::new(), &format!("     {text}"));
    }

    /// A refusal that was to be expected.
    pub(super) fn refused(&mut self, text: &str) {
        self.line(REFUSED, &format!("     {text}"));
    }

    pub(super) fn end(&mut self, text: &str) {
        self.line(DONE, &format!("\n{text}"));
    }

    fn line(&mut self, style: Style, text: &str) {
        // A reader that has gone away misses the rest of the story, nothing else.
        drop(writeln!(self.output, "{style}{text}{style:#}"));
    }
}
