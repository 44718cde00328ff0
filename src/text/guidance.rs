//! Texts of this program that name tools, for callers to whom only some of the tools are offered.
//!
//! A text refers to a tool as `tool:get_run`, and to tools of which one suffices as `tool:list_jobs|start_run`. Of
//! `tool:find_by_name/list_tests` the first that is offered is named. A part in double square brackets is left out if a tool that
//! it needs is not offered. The text itself is such a part, too. An argument is `argument:run_id`, with a value
//! `argument:confirm: true`.
//!
//! ```text
//! Saved test[[; from `tool:list_tests`]].
//! ```

use std::{
    borrow::Cow,
    fmt::{Debug, Display, Formatter},
};

use serde::{Deserialize, Serialize, Serializer};

/// Beginning of a reference to tools.
const REFERENCE: &str = "`tool:";

/// Beginning of a reference to an argument.
const ARGUMENT: &str = "`argument:";

/// What a caller can call, and how texts name it.
pub trait OfferedTools: Debug + Send + Sync {
    /// Returns the name by which a text names the tool `tool` to the caller, or `None` if neither the tool nor one that
    /// does the same is offered.
    fn offered_name<'a>(&self, tool: &'a str) -> Option<Cow<'a, str>>;

    /// Returns how a text names an argument, with the value that it should have.
    fn argument(&self, name: &str, value: Option<&str>) -> String {
        value.map_or(name.to_owned(), |value| format!("{name}: {value}"))
    }
}

/// Every tool, for readers who are not limited to the offered ones.
#[derive(Clone, Copy, Debug)]
pub struct AllTools;

impl OfferedTools for AllTools {
    fn offered_name<'a>(&self, tool: &'a str) -> Option<Cow<'a, str>> {
        Some(tool.into())
    }
}

/// Takes the place of advice of which nothing is left.
const OTHER_ADVICE: &str = "no offered tool helps here: tell the person";

/// Advice of this program that may refer to tools: one or several texts. It is displayed with the names of all tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Guidance(Vec<Cow<'static, str>>);

impl Guidance {
    /// Returns the texts for a caller, separated by semicolons. Returns `None` if nothing is left of them.
    pub fn for_caller(&self, tools: &dyn OfferedTools) -> Option<String> {
        let left: Vec<_> = self.0.iter().filter_map(|text| for_caller(text, tools)).collect();
        (!left.is_empty()).then(|| left.join("; "))
    }

    /// Replaces the advice by that for a caller.
    pub fn address(&mut self, tools: &dyn OfferedTools) {
        *self = self.for_caller(tools).unwrap_or_else(|| OTHER_ADVICE.to_owned()).into();
    }

    /// Replaces each text by what `edit` makes of it.
    pub fn edit(&mut self, edit: impl Fn(&str) -> String) {
        self.0.iter_mut().for_each(|text| *text = edit(text).into());
    }

    /// Adds a text.
    #[must_use]
    pub fn and(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(text.into());
        self
    }
}

impl Display for Guidance {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.for_caller(&AllTools).unwrap_or_default())
    }
}

impl Serialize for Guidance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Guidance {
    fn from(text: T) -> Self {
        Self(vec![text.into()])
    }
}

/// Returns `text` for a caller to whom `tools` are offered. Returns `None` if nothing is left of it.
pub fn for_caller(text: &str, tools: &dyn OfferedTools) -> Option<String> {
    let text = name_arguments(text, tools);
    let (mut written, mut rest) = (String::with_capacity(text.len()), &*text);

    while let Some((before, part, after)) = split_part(rest) {
        written.push_str(&name_tools(before, tools)?);
        written.push_str(&name_tools(part, tools).unwrap_or_default());
        rest = after;
    }
    written.push_str(&name_tools(rest, tools)?);

    let written = written.trim_end();
    (!written.is_empty()).then(|| written.to_owned())
}

/// Returns `text` with the names of the arguments to which it refers.
fn name_arguments<'a>(text: &'a str, tools: &dyn OfferedTools) -> Cow<'a, str> {
    let mut pieces = text.split(ARGUMENT);
    let first = pieces.next().unwrap_or_default();
    if first.len() == text.len() {
        return text.into();
    }

    let mut written = first.to_owned();
    for piece in pieces {
        let (argument, after) = piece.split_once('`').unwrap_or((piece, ""));
        let (name, value) =
            argument.split_once(": ").map_or((argument, None), |(name, value)| (name, Some(value)));
        written.extend(["`", &tools.argument(name, value), "`", after]);
    }
    written.into()
}

/// Returns the text before the first part that may be left out, the part, and the text after it. Brackets without a
/// reference are text, such as lists in JSON.
fn split_part(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("]]").find_map(|(end, _)| {
        let (before, part) = text.get(..end)?.rsplit_once("[[")?;
        part.contains(REFERENCE).then_some((before, part, text.get(end + 2..)?))
    })
}

/// Returns `part` with the names of the tools to which it refers. Returns `None` if one of the references has no offered
/// tool.
fn name_tools<'a>(part: &'a str, tools: &'a dyn OfferedTools) -> Option<String> {
    let mut pieces = part.split(REFERENCE);
    let mut written = pieces.next().unwrap_or_default().to_owned();

    for piece in pieces {
        let (alternatives, after) = piece.split_once('`').unwrap_or((piece, ""));
        let first_offered = |ranked: &'a str| ranked.split('/').find_map(|tool| tools.offered_name(tool));
        let mut names: Vec<_> = alternatives.split('|').filter_map(first_offered).collect();
        names.dedup();
        written.push_str(&choice(&names)?);
        written.push_str(after);
    }

    Some(written)
}

/// Returns names as a choice: `a`, `b` or `c`, each in backticks.
fn choice(names: &[Cow<'_, str>]) -> Option<String> {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let (last, others) = quoted.split_last()?;

    Some(if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct SomeTools;

    impl OfferedTools for SomeTools {
        fn offered_name<'a>(&self, tool: &'a str) -> Option<Cow<'a, str>> {
            match tool {
                "list_tests" => Some("find_by_name".into()),
                "get_run" | "list_jobs" | "get_job" | "find_by_name" => Some(tool.into()),
                _ => None,
            }
        }
    }

    #[test]
    fn parts_that_need_a_tool_which_is_not_offered_are_left_out() {
        for (text, expected) in [
            ("", None),
            ("Reads a run.", Some("Reads a run.")),
            ("Reads a run.[[ See `tool:get_run`.]]", Some("Reads a run. See `get_run`.")),
            ("Reads a run.[[ See `tool:get_bug`.]]", Some("Reads a run.")),
            (
                "Reads a run[[; see `tool:get_bug`]][[; see `tool:get_job`]].",
                Some("Reads a run; see `get_job`."),
            ),
            ("See `tool:get_bug`.", None),
            ("[[See `tool:get_bug`.]]", None),
            ("Call `tool:get_job` and `tool:get_bug`.", None),
            ("First.\n\n[[See `tool:get_bug`.]]", Some("First.")),
            ("`[[1], [2]]`[[; see `tool:get_run`]]", Some("`[[1], [2]]`; see `get_run`")),
            ("Pass `argument:run_id` or `argument:force: true`.", Some("Pass `run_id` or `force: true`.")),
            ("`get_bug` is data, and [[this]] is too", Some("`get_bug` is data, and [[this]] is too")),
        ] {
            assert_eq!(for_caller(text, &SomeTools).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn of_alternatives_the_offered_tools_are_named() {
        for (text, expected) in [
            ("`tool:list_jobs|get_bug`", Some("`list_jobs`")),
            ("`tool:get_bug|list_bugs`", None),
            ("`tool:get_bug|list_jobs|get_job` here", Some("`list_jobs` or `get_job` here")),
            ("`tool:list_jobs|get_job|get_run`", Some("`list_jobs`, `get_job` or `get_run`")),
            ("`tool:list_tests`", Some("`find_by_name`")),
            ("`tool:get_bug/list_jobs/get_run|get_job`", Some("`list_jobs` or `get_job`")),
        ] {
            assert_eq!(for_caller(text, &SomeTools).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_displayed_with_all_tools() {
        let hint = Guidance::from("wait[[, then `tool:get_bug`]]").and("see `tool:list_bugs|get_bug`");

        assert_eq!(hint.to_string(), "wait, then `get_bug`; see `list_bugs` or `get_bug`");
        assert_eq!(serde_json::to_string(&hint).expect("JSON"), format!("\"{hint}\""));
        assert_eq!(hint.for_caller(&SomeTools).as_deref(), Some("wait"));
    }
}
