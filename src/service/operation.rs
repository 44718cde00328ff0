//! One HTTP operation of the service, described once.
//!
//! The implementing struct is the tool's arguments, the request that the client sends and the request that the
//! sandbox answers. Its doc comment is the tool's description and the doc comments of its fields describe the
//! arguments. Fields named in [`Operation::PATH`] travel in the path; of the others, those of a `GET` or `DELETE`
//! travel in the query unless [`Operation::BODY`] names them, and those of other methods in the JSON body unless
//! [`Operation::QUERY`] names them.

use http::Method;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

mod trace;

pub use trace::{DuplicateCheck, FieldMatch, ListProbe, Probe};

use crate::{fields::Fields, service::rule::Rule};

/// A single HTTP operation, exposed as a single tool.
pub trait Operation: DeserializeOwned + Serialize + JsonSchema + 'static {
    /// Name of the tool and `operationId` of the contract.
    const NAME: &'static str;
    /// Title for people.
    const TITLE: &'static str;
    /// HTTP method.
    const METHOD: Method;
    /// Path below its [`UrlBase`]; every `{placeholder}` is a field of the struct, except [`TMSYS`] and
    /// [`PROJECT`]. The value of `{*placeholder}` may be several segments.
    const PATH: &'static str;
    /// Where the path begins.
    const PLACE: UrlBase = UrlBase::Project;
    /// Fields that travel in the query although the method has a body.
    const QUERY: &'static [&'static str] = &[];
    /// Fields that travel in a JSON body although the method usually has none.
    const BODY: &'static [&'static str] = &[];
    /// Arguments of our own: they shape the request or the reply, and do not travel.
    const OWN_ARGUMENTS: &'static [&'static str] = &[];
    /// Whether the body names the project too, as `project_id`.
    const PROJECT_IN_BODY: bool = false;
    /// The object in the body that holds the fields, where they do not lie in the body itself.
    const WRAPPER: Option<&'static str> = None;
    /// What calling it does to the service.
    const EFFECT: Effect;
    /// Set of tools that it belongs to.
    const TOOLSET: Toolset;
    /// Whether it is offered by default.
    const TIER: Tier;
    /// What the key has to allow.
    const ACCESS: Access;
    /// Rules of the service that a schema cannot say.
    const RULES: &'static [Rule] = &[];
    /// Rules of our own: the service would accept the call, but ignore a part of what was asked.
    const OWN_RULES: &'static [Rule] = &[];
    /// Whether the service refuses body fields that it does not know.
    const CLOSED: bool = false;
    /// Fields without which an answer is none of this operation.
    const ESSENTIAL: &'static [&'static str] = &[];
    /// Adds to an answer what the service may leave out; the arguments are given too.
    const COMPLETE: Option<fn(&mut Fields, &Fields)> = None;
    /// Where to look when the service does not have this operation.
    const FALLBACK: Option<Fallback> = None;
    /// What to do when nobody knows whether a call happened; `None` for operations that only read.
    const IN_DOUBT: Option<&'static str> = None;
    /// Where to look whether a call happened, before an equal one is sent: the first that fits the arguments counts.
    const DUPLICATE_CHECKS: &'static [DuplicateCheck] = &[];
    /// For arguments that are irreversible or costly: what would happen, for a person to agree to first.
    const CONFIRM: Option<fn(&Fields) -> Option<String>> = None;
    /// What an answer of success consists of.
    const FORM: ResponseKind = ResponseKind::Json;
    /// Where an answer has pictures: callers get them as images, not as text.
    const PICTURES: Option<Pictures> = None;
    /// Whether hosts that show pages have one for the answer.
    const VIEW: bool = false;
    /// What the service answers, or what is made of an answer that is no JSON.
    type Output: Serialize + JsonSchema + 'static;

    /// Whether sending the request twice is as good as once.
    fn repeatable(_arguments: &Fields) -> bool {
        matches!(Self::EFFECT, Effect::Reads)
    }
}

/// Placeholder in a path for the word of the setting `TAS_TMSYS_NAME`.
pub const TMSYS: &str = "{tmsys}";

/// Placeholder in a path for the project.
pub const PROJECT: &str = "{project_id}";

/// Where the path of an operation begins (supplement 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlBase {
    /// Below `{base_url}/project/{projectId}`, or below `{base_url}` where the project follows from the key.
    Project,
    /// Below `{base_url}/project/{projectId}` only: nothing else says the project.
    NamedProject,
    /// Below `{base_url}`, without a project.
    Base,
    /// Below `{knowledge_url}`, the host of knowledge files and run artifacts.
    Knowledge,
}

/// What a key has to allow (specification, Authentication; supplement 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// This permission.
    Permission(&'static str),
    /// Nothing in particular: any valid key will do.
    AnyKey,
    /// The operation takes no key, and none is sent.
    NoKey,
}

impl std::fmt::Display for Access {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Permission(permission) => permission,
            Self::AnyKey => "any key",
            Self::NoKey => "no key",
        })
    }
}

/// What an answer of success consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// A JSON object.
    Json,
    /// A JSON object, or anything else: the status alone says what happened.
    Status,
    /// A redirect that is not followed: its `Location` is the result.
    Redirect,
    /// A file, of which a part is asked for; the arguments `offset` and `length` say which.
    File,
}

/// What a tool changes, at the service or here; decides its annotations and what may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads,
    /// Makes something new on every call.
    Creates,
    /// Changes what is there, which may lose what it was; a second equal call changes nothing more.
    Replaces,
    /// Ends what is under way; a second call finds nothing left to do.
    Stops,
    /// Takes away for good what was there; a second call finds nothing left to take.
    Deletes,
}

impl Effect {
    /// Whether the operation changes nothing.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::Reads)
    }

    /// Whether the operation takes away what was there.
    pub const fn is_destructive(self) -> bool {
        matches!(self, Self::Replaces | Self::Stops | Self::Deletes)
    }

    /// Whether a second equal call changes nothing more.
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Creates)
    }
}

impl std::fmt::Display for Effect {
    /// The hints that hold, as hosts know them.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hints = [
            ("read-only", self.is_read_only()),
            ("destructive", self.is_destructive()),
            ("idempotent", self.is_idempotent()),
        ];
        let mut holding = hints.iter().filter(|(_, holds)| *holds).map(|(hint, _)| *hint);
        formatter.write_str(holding.next().unwrap_or_default())?;

        holding.try_for_each(|hint| write!(formatter, ", {hint}"))
    }
}

/// A set of tools that is switched on or off together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Starting, watching and stopping runs and jobs.
    Runs,
    /// Export to the test-management system.
    Exports,
    /// Bugs of runs and reviewed bugs.
    Bugs,
    /// Builds in build storage.
    Builds,
    /// Saved tests and their folders.
    Tests,
    /// Test plans and their executions.
    Plans,
    /// Shared step collections.
    Steps,
    /// Deployment and agent configs, credential kinds.
    Configs,
    /// Knowledge files of projects, agents and tests.
    Knowledge,
    /// Files that runs leave behind.
    Artifacts,
    /// Installers of Minions, the helper agents.
    Minions,
}

impl Toolset {
    /// Every set, in the order in which they are listed to people.
    pub const ALL: [Self; 11] = [
        Self::Runs,
        Self::Exports,
        Self::Bugs,
        Self::Builds,
        Self::Tests,
        Self::Plans,
        Self::Steps,
        Self::Configs,
        Self::Knowledge,
        Self::Artifacts,
        Self::Minions,
    ];

    /// Word of the setting `TAS_TOOLSETS`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Exports => "exports",
            Self::Bugs => "bugs",
            Self::Builds => "builds",
            Self::Tests => "tests",
            Self::Plans => "plans",
            Self::Steps => "steps",
            Self::Configs => "configs",
            Self::Knowledge => "knowledge",
            Self::Artifacts => "artifacts",
            Self::Minions => "minions",
        }
    }
}

/// Whether a tool is offered by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Offered by default: described or named by the specification, or needed to use what is.
    Core,
    /// Offered when its set, its name or `all` is selected.
    Extra,
}

/// Where an answer has pictures: each is an object of `data`, `mimeType` and `encoding` in a record of a list.
#[derive(Clone, Copy, Debug)]
pub struct Pictures {
    /// Field of the answer that holds the records.
    pub list: &'static str,
    /// Field of a record that holds a picture.
    pub field: &'static str,
}

/// A list that holds the record which an operation would return.
///
/// Used when the service answers 404 or 405: an operation that is not assured to exist is then replaced by
/// walking the list (supplement 5.2).
#[derive(Clone, Copy, Debug)]
pub struct Fallback {
    /// Name of the operation that lists the records.
    pub list: &'static str,
    /// Argument that holds the id.
    pub argument: &'static str,
    /// Field of a listed record that holds the id.
    pub field: &'static str,
}
