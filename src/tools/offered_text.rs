//! Texts for models, without what they say about tools that are not offered.

use crate::{
    failure::{Code, Failure},
    tools::{
        catalog::{self, ListedTool as _},
        composite::{CompositeTool as _, FindByName},
        name_search::RecordKind,
        selection::Selection,
    },
};

/// Replaces advice in a reply that names only tools which are not offered.
const OTHER_ADVICE: &str = "no offered tool helps here: tell the person";

/// Separator of the clauses of a sentence.
const CLAUSE_SEPARATOR: &str = "; ";

/// Returns `text` without the clauses that name a tool which `selection` does not offer. Returns an empty text if no
/// clause is left.
///
/// A text is a sequence of sentences, and `; ` separates the clauses of a sentence. A tool is named in backticks. Of
/// alternatives, such as `a`, `b` or `c`, only the tools that are not offered are left out. The text must be one of
/// this program: texts of the service may contain the names of tools as data.
pub fn offered_text(text: &str, selection: &Selection) -> String {
    if !names_other_tools(text, selection) {
        return text.to_owned();
    }

    let paragraphs = text.split("\n\n").map(|paragraph| {
        let lines = paragraph.split('\n').map(|line| offered_line(line, selection));
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    });

    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Returns whether a text names a tool that is not offered.
fn names_other_tools(text: &str, selection: &Selection) -> bool {
    // The parts at odd indexes are in backticks.
    text.split('`').skip(1).step_by(2).any(|name| !is_offered_word(name, selection))
}

/// Returns whether the text in backticks names no tool, or an offered one.
fn is_offered_word(quoted: &str, selection: &Selection) -> bool {
    let word = quoted.split(|character: char| !character.is_ascii_lowercase() && character != '_').next();
    word.and_then(catalog::find_tool).is_none_or(|tool| selection.offers(tool.info))
}

/// Returns the advice of a reply with offered tools only. Advice of which nothing is left is replaced.
pub fn offered_advice(advice: &str, selection: &Selection) -> String {
    match offered_text(advice, selection) {
        nothing if nothing.is_empty() => OTHER_ADVICE.to_owned(),
        offered => offered,
    }
}

/// Returns `failure` with a hint that names offered tools only. A hint of which nothing is left becomes the general
/// hint of the code.
#[must_use]
pub fn with_offered_hint(mut failure: Failure, selection: &Selection) -> Failure {
    let code = if failure.facts.is_uncertain { Code::OutcomeUnknown } else { failure.code };
    failure.hint = failure.hint.map(|hint| match offered_text(&hint, selection) {
        nothing if nothing.is_empty() => code.general_hint().to_owned(),
        offered => offered,
    });

    failure
}

fn offered_line(line: &str, selection: &Selection) -> String {
    let offered = sentences(line).into_iter().filter_map(|sentence| offered_sentence(sentence, selection));
    offered.collect::<Vec<_>>().join(" ")
}

/// Returns the sentences of a line. A sentence ends at a full stop before a space and the beginning of another
/// sentence.
fn sentences(line: &str) -> Vec<&str> {
    let begins_sentence =
        |text: &str| text.starts_with(|first: char| first.is_uppercase() || matches!(first, '`' | '"' | '{'));
    let mut found = Vec::new();
    let (mut rest, mut searched) = (line, 0);

    while let Some(length) = rest.get(searched..).and_then(|text| text.find(". ")) {
        let end = searched + length + 1;
        let (Some(sentence), Some(next)) = (rest.get(..end), rest.get(end + 1..)) else { break };

        if !is_quote_open(sentence) && begins_sentence(next) {
            found.push(sentence);
            (rest, searched) = (next, 0);
        } else {
            searched = end;
        }
    }

    found.push(rest);
    found
}

/// Returns whether `text` ends inside backticks.
fn is_quote_open(text: &str) -> bool {
    text.matches('`').count() % 2 == 1
}

/// Returns a sentence without the clauses that name tools which are not offered.
fn offered_sentence(sentence: &str, selection: &Selection) -> Option<String> {
    let offered: Vec<_> =
        clauses(sentence).into_iter().map(|clause| offered_clause(clause, selection)).collect();
    let is_first_kept = offered.first().is_some_and(Option::is_some);

    let mut kept = offered.into_iter().flatten().collect::<Vec<_>>().join(CLAUSE_SEPARATOR);
    if kept.is_empty() {
        return None;
    }

    if sentence.ends_with('.') && !kept.ends_with('.') {
        kept.push('.');
    }
    if !is_first_kept && sentence.starts_with(char::is_uppercase) {
        kept = capitalized(&kept);
    }

    Some(kept)
}

/// Returns the clauses of a sentence. A separator inside backticks separates nothing.
fn clauses(sentence: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut rest, mut searched) = (sentence, 0);

    while let Some(length) = rest.get(searched..).and_then(|text| text.find(CLAUSE_SEPARATOR)) {
        let end = searched + length;
        let next = end + CLAUSE_SEPARATOR.len();
        let (Some(clause), Some(after)) = (rest.get(..end), rest.get(next..)) else { break };

        if is_quote_open(clause) {
            searched = next;
        } else {
            found.push(clause);
            (rest, searched) = (after, 0);
        }
    }

    found.push(rest);
    found
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters.as_str().chars()).collect()
}

/// Returns a clause with the offered ones of alternative tools, or `None` if it names another tool that is not offered.
fn offered_clause(clause: &str, selection: &Selection) -> Option<String> {
    // The parts at odd indexes are in backticks.
    let mut parts = clause.split('`');
    let mut offered = parts.next().unwrap_or_default().to_owned();
    let mut names = Vec::new();

    while let Some(name) = parts.next() {
        let following = parts.next();
        names.push(name);
        match following {
            Some(joiner @ (", " | " or ")) => names.push(joiner),
            _ => offered.push_str(&offered_names(&std::mem::take(&mut names), selection)?),
        }
        if names.is_empty() {
            offered.push_str(following.unwrap_or_default());
        }
    }

    Some(offered)
}

/// Returns the offered ones of the names at even indexes, which the joiners between them separate. Returns `None` if
/// a name that is not offered is no alternative to an offered one.
fn offered_names(names: &[&str], selection: &Selection) -> Option<String> {
    let names: Vec<_> = names.iter().map(|name| offered_substitute(name, selection)).collect();
    let all: Vec<_> = names.iter().step_by(2).collect();
    let kept: Vec<_> = all
        .iter()
        .copied()
        .filter(|name| is_offered_word(name, selection))
        .map(|name| format!("`{name}`"))
        .collect();
    let are_alternatives = names.contains(&" or ");

    if kept.len() == all.len() {
        let quoted = |(index, part): (usize, &&str)| {
            if index % 2 == 0 { format!("`{part}`") } else { (*part).to_owned() }
        };
        return Some(names.iter().enumerate().map(quoted).collect());
    }

    match kept.split_last() {
        Some((last, [])) if are_alternatives => Some(last.clone()),
        Some((last, others)) if are_alternatives => Some(format!("{} or {last}", others.join(", "))),
        _ => None,
    }
}

/// Returns `find_by_name` instead of a list that it searches and that is not offered, otherwise `name` itself.
fn offered_substitute<'a>(name: &'a str, selection: &Selection) -> &'a str {
    let is_offered = || catalog::find_tool(name).is_some_and(|tool| selection.offers(tool.info));
    let is_replaced = is_source_of_ids(name) && selection.offers(&FindByName::tool()) && !is_offered();

    if is_replaced { FindByName::NAME } else { name }
}

/// Returns whether texts name the list only as the source of ids that `find_by_name` finds too. The list of bugs also
/// answers which bugs there are.
fn is_source_of_ids(list: &str) -> bool {
    let kinds = RecordKind::ALL.into_iter().filter(|kind| *kind != RecordKind::Bug);
    kinds.into_iter().any(|kind| kind.list().name == list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(words: &str) -> Selection {
        Selection::parse(words, false).expect("words")
    }

    #[test]
    fn clauses_that_name_tools_which_are_not_offered_are_left_out() {
        let offered = selection("get_run,list_jobs,get_job");

        for (text, expected) in [
            ("", ""),
            ("Reads a run. See `get_run`.", "Reads a run. See `get_run`."),
            ("Reads a run. See `get_bug`.", "Reads a run."),
            ("See `get_bug`. Reads a run.", "Reads a run."),
            ("See `get_bug`.", ""),
            ("Saved test; from `list_tests`.", "Saved test."),
            ("From `list_tests`; a saved test.", "A saved test."),
            ("check with `get_bug`; nothing was sent", "nothing was sent"),
            ("First.\n\nSee `get_bug`.\n\nLast.", "First.\n\nLast."),
            ("First.\nSee `get_bug`.\nLast.", "First.\nLast."),
            ("Pass `id.name`; `unknown_word` stays.", "Pass `id.name`; `unknown_word` stays."),
            ("For \"1\", \"2\", ... See `get_bug`. Done.", "For \"1\", \"2\", ... Done."),
            ("In `a. B; c` nothing ends. `get_bug {}` is a call.", "In `a. B; c` nothing ends."),
            ("Up to 4. 5 are too many; see `get_bug`.", "Up to 4. 5 are too many."),
            ("An open `quote", "An open `quote"),
        ] {
            assert_eq!(offered_text(text, &offered), expected, "{text}");
        }
    }

    #[test]
    fn of_alternatives_the_offered_tools_remain() {
        let offered = selection("get_run,list_jobs,get_job");

        for (text, expected) in [
            ("From `list_jobs` or `get_bug`.", "From `list_jobs`."),
            ("From `get_bug` or `list_jobs`.", "From `list_jobs`."),
            ("From `get_bug` or `list_bugs`.", ""),
            ("From `get_bug`, `list_jobs` or `get_job` here.", "From `list_jobs` or `get_job` here."),
            ("From `list_jobs`, `get_job` or `get_bug`.", "From `list_jobs` or `get_job`."),
            ("Call `get_job`, `get_bug` and more.", ""),
            ("Call `get_job` and `get_bug`.", ""),
        ] {
            assert_eq!(offered_text(text, &offered), expected, "{text}");
        }
    }

    #[test]
    fn find_by_name_replaces_the_lists_that_it_searches() {
        for (words, expected) in [
            ("find_by_name", "Test; from `find_by_name`."),
            ("find_by_name,list_tests", "Test; from `list_tests`."),
            ("get_run", "Test."),
        ] {
            assert_eq!(offered_text("Test; from `list_tests`.", &selection(words)), expected);
        }
    }

    #[test]
    fn a_failure_keeps_a_hint() {
        let offered = selection("get_run");
        let failure = |code| Failure::new(code, "no");

        for (failure, expected) in [
            (failure(Code::NotFound).hint("see `get_run`"), "see `get_run`"),
            (failure(Code::NotFound).hint("see `get_bug`"), Code::NotFound.general_hint()),
            (failure(Code::Cancelled).uncertain("see `get_bug`"), Code::OutcomeUnknown.general_hint()),
        ] {
            assert_eq!(with_offered_hint(failure, &offered).hint.as_deref(), Some(expected));
        }
    }
}
