//! Prompts: what people do often, as the calls that do it, for hosts that offer them as commands.
//!
//! A prompt is listed where its tools are offered, and names no other. Every step is the exact call, so that following
//! it needs no knowledge of the tools.

mod given;
mod script;
mod table;

use rmcp::{
    ErrorData,
    model::{self, GetPromptRequestParams, GetPromptResult, PromptArgument, PromptMessage, Role},
};
use serde_json::json;

use self::{
    given::Given,
    script::{Aim, Script},
};
use super::{Server, completion::Source};
use crate::{
    service::tool::PROJECT_ID,
    tools::{catalog, selection::Selection},
};

/// A prompt.
pub(super) struct Prompt {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Tools without which it makes no sense.
    needs: &'static [&'static str],
    arguments: &'static [Argument],
    choice: Choice,
    /// What is done with the arguments.
    script: fn(&Given, &Selection) -> Script,
}

/// Which arguments exclude one another.
enum Choice {
    Free,
    ExactlyOne(&'static [&'static str]),
    AtMostOne(&'static [&'static str]),
}

impl Choice {
    /// Whether `name` is the one argument that is left of those of which one is needed.
    fn leaves_only(&self, name: &str, known: &[&Argument]) -> bool {
        let Self::ExactlyOne(names) = self else { return false };
        let mut left = names.iter().filter(|name| known.iter().any(|one| one.name == **name));
        (left.next().copied(), left.next()) == (Some(name), None)
    }
}

/// An argument of a prompt.
struct Argument {
    name: &'static str,
    description: &'static str,
    is_required: bool,
    /// Where its values come from.
    source: Source,
    /// Tool without which it is of no use.
    needs: Option<&'static str>,
}

/// Names the project in global scope.
const PROJECT: Argument = Argument {
    name: PROJECT_ID,
    description: "Project; needed where the key has several",
    is_required: false,
    source: Source::Projects,
    needs: None,
};

impl Argument {
    fn is_offered(&self, selection: &Selection) -> bool {
        self.needs.is_none_or(|tool| offers(selection, tool))
    }
}

impl Prompt {
    /// Its arguments with these tools.
    fn arguments(&self, selection: &Selection, is_global: bool) -> impl Iterator<Item = &'static Argument> {
        let own = self.arguments.iter().filter(|argument| argument.is_offered(selection));
        own.chain(is_global.then_some(&PROJECT))
    }

    fn listed(&self, selection: &Selection, is_global: bool) -> model::Prompt {
        let known: Vec<_> = self.arguments(selection, is_global).collect();
        let listed = |argument: &&Argument| {
            PromptArgument::new(argument.name)
                .with_description(argument.description)
                .with_required(argument.is_required || self.choice.leaves_only(argument.name, &known))
        };
        let arguments = known.iter().map(listed).collect();

        model::Prompt::new(self.name, Some(self.description), Some(arguments)).with_title(self.title)
    }
}

impl Server {
    /// The prompts whose tools are offered.
    pub(super) fn offered_prompts(&self) -> impl Iterator<Item = &'static Prompt> {
        let is_offered = |prompt: &&Prompt| prompt.needs.iter().all(|tool| offers(&self.0.selection, tool));
        table::PROMPTS.iter().filter(is_offered)
    }

    /// The prompts as hosts list them.
    pub(super) fn listed_prompts(&self) -> Vec<model::Prompt> {
        let is_global = self.0.project.is_none();
        self.offered_prompts().map(|prompt| prompt.listed(&self.0.selection, is_global)).collect()
    }

    /// Where the values of an argument of a prompt come from; `None`: it has no such argument.
    pub(super) fn prompt_source(&self, prompt: &Prompt, argument: &str) -> Option<Source> {
        let mut arguments = prompt.arguments(&self.0.selection, self.0.project.is_none());
        arguments.find(|known| known.name == argument).map(|known| known.source)
    }

    /// The text of a prompt.
    pub(super) fn prompt(&self, request: GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
        let prompt = self.offered_prompts().find(|prompt| prompt.name == request.name).ok_or_else(|| {
            let names: Vec<_> = self.offered_prompts().map(|prompt| prompt.name).collect();
            let name: String = request.name.chars().take(80).collect();
            ErrorData::invalid_params(format!("no prompt `{name}`; there are: {}", names.join(", ")), None)
        })?;
        let selection = &self.0.selection;
        let known: Vec<_> = prompt.arguments(selection, self.0.project.is_none()).collect();
        let mut arguments = request.arguments.unwrap_or_default();

        if let Some(bound) = &self.0.project {
            given::leave_out(&mut arguments, bound).map_err(|failure| {
                let message = format!("{}: {failure}", prompt.name);
                ErrorData::invalid_params(message, Some(json!({"error": failure})))
            })?;
        }

        let given = Given::check(arguments, &known, &prompt.choice)
            .map_err(|why| ErrorData::invalid_params(format!("{}: {why}", prompt.name), None))?;
        let aim = match self.0.project {
            Some(_) => Aim::Settled,
            None => Aim::Open(given.get(PROJECT_ID)),
        };
        let text = (prompt.script)(&given, selection).text(&aim, |tool| offers(selection, tool));
        let message = PromptMessage::new_text(Role::User, text);

        Ok(GetPromptResult::new(vec![message]).with_description(prompt.description))
    }
}

fn offers(selection: &Selection, tool: &str) -> bool {
    catalog::find_tool(tool).is_some_and(|tool| selection.offers(&tool))
}
