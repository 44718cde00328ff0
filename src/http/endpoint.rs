//! The project and the tools that the address and the headers of a request choose.
//!
//! Address and headers only narrow what the settings of the server offer. If both name a project, the address decides. If
//! both name sets of tools, only the tools of both sets are offered.

use axum::http::{HeaderMap, StatusCode};
use percent_encoding::percent_decode_str;

use super::limits::Refusal;
use crate::{service::request::project_id, tools::selection::Selection};

/// First segment of the path of every endpoint.
const ROOT: &str = "mcp";

/// Segment before a list of sets of tools.
const SETS: &str = "x";

/// Segment for read-only mode.
const READ_ONLY: &str = "readonly";

/// Largest number of words in a list of tools: more than there are tools and sets.
const MAX_WORDS: usize = 64;

/// What the address and the headers of a request choose.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Endpoint {
    /// The project of every call; `None` for global scope.
    pub(super) project: Option<String>,
    pub(super) selection: Selection,
}

impl Endpoint {
    /// Reads what a request chooses from what the operator offers.
    pub(super) fn read(path: &str, headers: &HeaderMap, offered: &Self) -> Result<Self, Refusal> {
        let address = Address::parse(path)?;
        let header = |name| header_text(headers, name);

        let project = address.project.or(header("x-tas-project")?.map(str::to_owned));
        let listed = listed_tools(header("x-mcp-toolsets")?, header("x-mcp-tools")?);
        let lists = [address.sets, listed].into_iter().flatten();
        let mut narrowing = lists.map(|words| parse_words(&words)).collect::<Result<Vec<_>, _>>()?;
        if let Some(excluded) = header("x-mcp-exclude-tools")? {
            narrowing.push(parse_words(&exclusion(excluded))?);
        }
        if address.is_read_only || is_true(header("x-mcp-readonly")?)? {
            narrowing.push(Selection::all_tools().read_only());
        }

        Ok(Self {
            project: narrow_project(project, offered.project.as_deref())?,
            selection: offered.selection.clone().narrowed_by(&narrowing),
        })
    }
}

pub(super) fn no_such_path() -> Refusal {
    let message = "no such path: the endpoint is /mcp or /mcp/PROJECT, each followed by /x/SETS and /readonly if wanted";
    Refusal::new(StatusCode::NOT_FOUND, message)
}

#[derive(Default)]
struct Address {
    project: Option<String>,
    sets: Option<String>,
    is_read_only: bool,
}

impl Address {
    /// Parses `/mcp[/PROJECT][/x/SETS][/readonly]`. A slash at the end has no meaning.
    fn parse(path: &str) -> Result<Self, Refusal> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut segments = path.split('/').skip(1).peekable();
        if segments.next() != Some(ROOT) {
            return Err(no_such_path());
        }

        let mut address = Self::default();
        let project = segments.next_if(|segment| !matches!(*segment, SETS | READ_ONLY));
        address.project = project.map(|project| decode(project).ok_or_else(no_such_path)).transpose()?;
        if segments.next_if_eq(&SETS).is_some() {
            let sets = segments.next().and_then(decode);
            address.sets = Some(sets.ok_or_else(no_such_path)?);
        }
        address.is_read_only = segments.next_if_eq(&READ_ONLY).is_some();

        if segments.next().is_some() { Err(no_such_path()) } else { Ok(address) }
    }
}

/// Returns the text of a segment; `None` if the segment is empty or no text.
fn decode(segment: &str) -> Option<String> {
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    (!text.is_empty()).then(|| text.into_owned())
}

/// Returns the value of a header that may appear once.
fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.any(|value| Some(value) != first) {
        return Err(bad_header(name, "has two different values"));
    }

    let text = first.map(|value| value.to_str().map_err(|_| bad_header(name, "is not ASCII text")));
    Ok(text.transpose()?.map(str::trim).filter(|text| !text.is_empty()))
}

/// Returns the words of two headers as one list: the tools add to the sets.
fn listed_tools(sets: Option<&str>, tools: Option<&str>) -> Option<String> {
    let lists: Vec<_> = [sets, tools].into_iter().flatten().collect();
    (!lists.is_empty()).then(|| lists.join(","))
}

/// Returns the words that select all tools but `excluded`. Words beyond their largest number are left out, because one more is
/// refused anyway.
fn exclusion(excluded: &str) -> String {
    let words = excluded.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.take(MAX_WORDS).fold("all".to_owned(), |words, word| format!("{words},-{word}"))
}

fn parse_words(words: &str) -> Result<Selection, Refusal> {
    let refuse = |why: String| Refusal::new(StatusCode::BAD_REQUEST, format!("the list of tools {why}"));
    // The request is not admitted yet, and each word is compared with all names.
    if words.split(',').count() > MAX_WORDS {
        return Err(refuse(format!("has more than {MAX_WORDS} words")));
    }

    Selection::parse(words, false).map_err(|error| refuse(error.to_string()))
}

fn is_true(text: Option<&str>) -> Result<bool, Refusal> {
    match text.map(str::to_ascii_lowercase).as_deref() {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(_) => Err(bad_header("x-mcp-readonly", "must be true or false")),
    }
}

/// Returns the project of a request within the scope of the operator.
fn narrow_project(requested: Option<String>, offered: Option<&str>) -> Result<Option<String>, Refusal> {
    let refuse = |message: String| Err(Refusal::new(StatusCode::BAD_REQUEST, message));
    match (requested, offered) {
        (Some(requested), _) if project_id(&requested).is_err() => {
            refuse("the address or the header X-TAS-Project names no project id".to_owned())
        }
        (Some(requested), Some(offered)) if requested != offered => {
            refuse(format!("this server is for the project `{offered}` only"))
        }
        (Some(requested), _) => Ok(Some(requested)),
        (None, offered) => Ok(offered.map(str::to_owned)),
    }
}

fn bad_header(name: &str, problem: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, format!("the header {name} {problem}"))
}
