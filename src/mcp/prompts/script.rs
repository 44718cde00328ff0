//! The text of a prompt: what for, the calls in their order, and what to tell the person.

use serde_json::Value;

use crate::gateway::PROJECT_ID;

/// What is done, call by call.
pub(super) struct Script {
    purpose: &'static str,
    steps: Vec<Step>,
    endings: Vec<Ending>,
}

/// A sentence after the calls.
struct Ending {
    /// Call without which it means nothing.
    needs: Option<&'static str>,
    sentence: &'static str,
}

struct Step {
    tool: &'static str,
    arguments: Vec<(&'static str, Piece)>,
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
        self.steps.push(Step { tool, arguments: given.collect() });
        self
    }

    /// Adds a sentence after the calls.
    pub(super) fn then(mut self, sentence: &'static str) -> Self {
        self.endings.push(Ending { needs: None, sentence });
        self
    }

    /// Adds a sentence that speaks of the call of `tool`.
    pub(super) fn after(mut self, tool: &'static str, sentence: &'static str) -> Self {
        self.endings.push(Ending { needs: Some(tool), sentence });
        self
    }

    /// The text, with the calls of offered tools, in `project` where it is named. A call that needs the answer of one
    /// that is left out is left out too.
    pub(super) fn text(self, project: Option<&Value>, offers: impl Fn(&str) -> bool) -> String {
        let mut kept: Vec<Step> = Vec::new();
        for mut step in self.steps {
            let is_known = |source: &str| kept.iter().any(|earlier| earlier.tool == source);
            if !offers(step.tool) || !step.sources().all(is_known) {
                continue;
            }
            if let Some(project) = project {
                step.arguments.push((PROJECT_ID, Piece::Data(project.clone())));
            }
            kept.push(step);
        }
        let mut lines =
            vec![self.purpose.to_owned(), String::new(), "Call these tools in this order:".to_owned()];
        lines.extend(kept.iter().enumerate().map(|(index, step)| format!("{}. {}", index + 1, step.line())));
        lines.push(String::new());
        if kept.iter().any(|step| step.sources().next().is_some()) {
            lines.push(LEGEND.to_owned());
        }
        let is_called = |tool: &'static str| kept.iter().any(|step| step.tool == tool);
        let said = self.endings.iter().filter(|ending| ending.needs.is_none_or(is_called));
        lines.push(said.map(|ending| ending.sentence).collect::<Vec<_>>().join(" "));
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

    fn line(&self) -> String {
        let arguments: Vec<_> =
            self.arguments.iter().map(|(name, piece)| format!("\"{name}\":{piece}")).collect();
        format!("{} {{{}}}", self.tool, arguments.join(","))
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
