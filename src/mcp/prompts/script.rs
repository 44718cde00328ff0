//! The text of a prompt: what for, the calls in their order, and what to tell the person.

use serde_json::Value;

use crate::service::tool::PROJECT_ID;

/// What is done, call by call.
pub(super) struct Script {
    purpose: &'static str,
    steps: Vec<Step>,
    endings: Vec<&'static str>,
}

struct Step {
    tool: &'static str,
    arguments: Vec<(&'static str, Piece)>,
    /// The project, where the caller names none.
    project: Option<Piece>,
    /// What is to be known of the call before the next one.
    note: Option<&'static str>,
}

/// Where the calls go.
pub(super) enum Aim<'a> {
    /// To the project of the settings.
    Settled,
    /// To the project that is given, else to that of the ids.
    Open(Option<&'a Value>),
}

/// The value of an argument.
#[derive(Clone)]
pub(super) enum Piece {
    /// Given by a person.
    Data(Value),
    /// Chosen here.
    Fixed(Value),
    /// From the answer of an earlier call: its tool, and the way to the value.
    Answer(&'static str, &'static str),
}

/// How values that are not known yet are read.
const LEGEND: &str = "A value in <> comes from the answer of the tool it names: [] means one call for each, [?] the one \
that fits; where several fit, ask the person. Skip calls for which there is no value.";

impl Script {
    pub(super) fn new(purpose: &'static str) -> Self {
        Self { purpose, steps: Vec::new(), endings: Vec::new() }
    }

    /// Adds a call; arguments without a value are left out.
    pub(super) fn call<const COUNT: usize>(
        mut self,
        tool: &'static str,
        arguments: [(&'static str, Option<Piece>); COUNT],
    ) -> Self {
        let given = arguments.into_iter().filter_map(|(name, value)| Some((name, value?)));
        self.steps.push(Step { tool, arguments: given.collect(), project: None, note: None });
        self
    }

    /// Says which project the last call goes to where none is given: nothing in the call itself decides it.
    pub(super) fn in_project(mut self, project: Piece) -> Self {
        if let Some(step) = self.steps.last_mut() {
            step.project = Some(project);
        }
        self
    }

    /// Adds a line below the last call.
    pub(super) fn noting(mut self, note: &'static str) -> Self {
        if let Some(step) = self.steps.last_mut() {
            step.note = Some(note);
        }
        self
    }

    /// Adds a sentence after the calls.
    pub(super) fn then(mut self, sentence: &'static str) -> Self {
        self.endings.push(sentence);
        self
    }

    /// The text, with the calls of offered tools. A call that needs the answer of one that is left out is left out
    /// too.
    pub(super) fn text(self, aim: &Aim<'_>, offers: impl Fn(&str) -> bool) -> String {
        let mut kept: Vec<Step> = Vec::new();
        for mut step in self.steps {
            let is_known = |source: &str| kept.iter().any(|earlier| earlier.tool == source);
            if offers(step.tool) && step.sources().all(is_known) {
                step.aim(aim);
                kept.push(step);
            }
        }

        let mut lines =
            vec![self.purpose.to_owned(), String::new(), "Call these tools in this order:".to_owned()];
        lines.extend(kept.iter().enumerate().map(|(index, step)| format!("{}. {}", index + 1, step.line())));
        lines.push(String::new());

        if kept.iter().any(|step| step.sources().next().is_some()) {
            lines.push(LEGEND.to_owned());
        }

        lines.push(self.endings.join(" "));

        lines.join("\n")
    }
}

impl Step {
    /// The tools whose answers it needs.
    fn sources(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(|(_, piece)| match piece {
            Piece::Answer(tool, _) => Some(*tool),
            Piece::Data(_) | Piece::Fixed(_) => None,
        })
    }

    fn aim(&mut self, aim: &Aim<'_>) {
        let project = match aim {
            Aim::Settled => return,
            Aim::Open(Some(given)) => Some(Piece::Data((*given).clone())),
            Aim::Open(None) => self.project.take(),
        };
        self.arguments.extend(project.map(|project| (PROJECT_ID, project)));
    }

    fn line(&self) -> String {
        let arguments: Vec<_> =
            self.arguments.iter().map(|(name, piece)| format!("\"{name}\":{piece}")).collect();
        let note = self.note.map(|note| format!("\n   {note}")).unwrap_or_default();
        format!("{} {{{}}}{note}", self.tool, arguments.join(","))
    }
}

impl std::fmt::Display for Piece {
    /// As JSON. What a person gave cannot look like a value from an answer.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Data(value) => {
                formatter.write_str(&value.to_string().replace('<', "\\u003c").replace('>', "\\u003e"))
            }
            Self::Fixed(value) => write!(formatter, "{value}"),
            Self::Answer(tool, path) => write!(formatter, "\"<{tool}.{path}>\""),
        }
    }
}
