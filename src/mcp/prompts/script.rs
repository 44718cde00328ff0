//! The text of a prompt: the purpose, the calls in their order, and the report to the person.

use std::fmt;

use serde_json::Value;

use crate::{
    mcp::listed_tool::ListedTool, service::tool::PROJECT_ID, tools::catalog::ToolEntry,
    tools::selection::Selection,
};

/// Explains values that are read from the answer of an earlier call.
const LEGEND: &str = "A value in <> comes from the answer of the tool it names. [] means one call for each value. [?] means the \
value that fits; if several fit, ask the person. Skip calls for which there is no value.";

/// The calls of a prompt, with the text before and after them.
pub(super) struct CallScript {
    purpose: &'static str,
    calls: Vec<ScriptedCall>,
    closing_sentences: Vec<&'static str>,
}

/// One call of a script.
struct ScriptedCall {
    tool: ToolEntry,
    arguments: Vec<(&'static str, ArgumentValue)>,
    /// Project of the call if the person names none. Set if no other argument decides the project.
    default_project: Option<ArgumentValue>,
    /// Line below the call.
    note: Option<&'static str>,
}

/// The project that the calls of a script go to.
pub(super) enum TargetProject<'a> {
    /// The project of the settings.
    Bound,
    /// The project that the person names, or the project that the ids decide.
    Open(Option<&'a Value>),
}

/// The value of an argument of a scripted call.
#[derive(Clone)]
pub(super) enum ArgumentValue {
    /// Given by the person.
    FromPerson(Value),
    /// Chosen by the script.
    Constant(Value),
    /// Read from the answer of an earlier call: the tool, and the path to the value.
    FromAnswer(ToolEntry, &'static str),
}

impl ArgumentValue {
    /// Returns a value that is read from the answer of an earlier call of `T`.
    pub(super) fn from_answer<T: ListedTool>(path: &'static str) -> Self {
        Self::FromAnswer(T::tool_entry(), path)
    }

    pub(super) fn constant(value: impl Into<Value>) -> Self {
        Self::Constant(value.into())
    }
}

impl CallScript {
    pub(super) fn new(purpose: &'static str) -> Self {
        Self { purpose, calls: Vec::new(), closing_sentences: Vec::new() }
    }

    /// Adds a call of `T`. Arguments without a value are left out.
    pub(super) fn call<T: ListedTool>(
        self,
        arguments: impl IntoIterator<Item = (&'static str, Option<ArgumentValue>)>,
    ) -> Self {
        self.call_entry(T::tool_entry(), arguments)
    }

    /// Adds a call of `tool`. Arguments without a value are left out.
    pub(super) fn call_entry(
        mut self,
        tool: ToolEntry,
        arguments: impl IntoIterator<Item = (&'static str, Option<ArgumentValue>)>,
    ) -> Self {
        let arguments = arguments.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        self.calls.push(ScriptedCall { tool, arguments, default_project: None, note: None });
        self
    }

    /// Sets the project of the last call if the person names none.
    pub(super) fn with_default_project(mut self, project: ArgumentValue) -> Self {
        if let Some(call) = self.calls.last_mut() {
            call.default_project = Some(project);
        }
        self
    }

    /// Adds a line below the last call.
    pub(super) fn with_note(mut self, note: &'static str) -> Self {
        if let Some(call) = self.calls.last_mut() {
            call.note = Some(note);
        }
        self
    }

    /// Adds a sentence after the calls.
    pub(super) fn close_with(mut self, sentence: &'static str) -> Self {
        self.closing_sentences.push(sentence);
        self
    }

    /// Returns the text with the calls of offered tools. A call that needs the answer of a call that is left out is
    /// left out too.
    pub(super) fn render(self, target: &TargetProject<'_>, selection: &Selection) -> String {
        let mut calls: Vec<ScriptedCall> = Vec::new();
        for mut call in self.calls {
            let is_answered = |source: &str| calls.iter().any(|earlier| earlier.tool.name == source);
            if selection.offers(call.tool.tool()) && call.sources().all(is_answered) {
                call.set_project(target);
                calls.push(call);
            }
        }

        let mut lines =
            vec![self.purpose.to_owned(), String::new(), "Call these tools in this order:".to_owned()];
        lines.extend(
            calls.iter().enumerate().map(|(index, call)| format!("{}. {}", index + 1, call.render())),
        );
        lines.push(String::new());

        if calls.iter().any(|call| call.sources().next().is_some()) {
            lines.push(LEGEND.to_owned());
        }
        lines.push(self.closing_sentences.join(" "));

        lines.join("\n")
    }
}

impl ScriptedCall {
    /// Returns the names of the tools whose answers the call needs.
    fn sources(&self) -> impl Iterator<Item = &'static str> {
        self.arguments.iter().filter_map(|(_, value)| match value {
            ArgumentValue::FromAnswer(tool, _) => Some(tool.tool().name),
            ArgumentValue::FromPerson(_) | ArgumentValue::Constant(_) => None,
        })
    }

    fn set_project(&mut self, target: &TargetProject<'_>) {
        let project = match target {
            TargetProject::Bound => return,
            TargetProject::Open(Some(given)) => Some(ArgumentValue::FromPerson((*given).clone())),
            TargetProject::Open(None) => self.default_project.take(),
        };
        self.arguments.extend(project.map(|project| (PROJECT_ID, project)));
    }

    fn render(&self) -> String {
        let arguments = self.arguments.iter().map(|(name, value)| format!("\"{name}\":{value}"));
        let arguments = arguments.collect::<Vec<_>>().join(",");
        let note = self.note.map(|note| format!("\n   {note}")).unwrap_or_default();

        format!("{} {{{arguments}}}{note}", self.tool.name)
    }
}

impl fmt::Display for ArgumentValue {
    /// Writes the value as JSON. In a value of a person `<` and `>` are escaped, so that the value cannot look like a
    /// value from an answer.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromPerson(value) => {
                formatter.write_str(&value.to_string().replace('<', "\\u003c").replace('>', "\\u003e"))
            }
            Self::Constant(value) => write!(formatter, "{value}"),
            Self::FromAnswer(tool, path) => write!(formatter, "\"<{}.{path}>\"", tool.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ArgumentValue;
    use crate::service::api::runs::GetRun;

    #[test]
    fn only_values_from_answers_have_angle_brackets() {
        for (value, text) in [
            (ArgumentValue::FromPerson(json!("<get_run.id>")), r#""\u003cget_run.id\u003e""#),
            (ArgumentValue::constant(false), "false"),
            (ArgumentValue::from_answer::<GetRun>("project_id"), r#""<get_run.project_id>""#),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }
}
