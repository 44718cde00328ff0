//! One call of a tool, start to end: arguments, project, request, answer, reply.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

mod opening;
mod repeating;

pub use opening::{Artifact, Refusal};

use self::repeating::Memory;

use crate::{
    arguments::{self, Mode, Violation},
    call::Call,
    catalog::{self, Entry},
    client::{CALL_LIMIT, Client, Reached},
    config::{KeyKind, Settings, read_only_refusal},
    failure::{Code, Failure},
    files::Files,
    local::{self, Audience, Desk, Local},
    operation::{Fields, Place},
    reply::{self, Reply, Selection, Within},
    scope::{OwnedId, Scope, broken_ids, owned_ids},
    tool::Tool,
    waiting::{Clock, RealTime},
    wire,
};

/// Argument of every tool in global scope; project scope accepts it too, to refuse another project.
pub const PROJECT_ID: &str = "project_id";

/// Argument of tools that may be irreversible or costly: a person has agreed.
pub const CONFIRM: &str = "confirm";

/// Argument of tools that read: what of the answer is wanted, as dotted names with commas between them.
pub const FIELDS: &str = "fields";

/// The way from tools to the service; cheap to clone.
#[derive(Clone, Debug)]
pub struct Gateway {
    ready: Arc<Result<Ready, Failure>>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct Ready {
    client: Client,
    scope: Scope,
    service: String,
    origins: Vec<String>,
    tmsys_name: String,
    max_reply_chars: usize,
    asks_first: bool,
    read_only: bool,
    files: Files,
    memory: Memory,
}

impl Gateway {
    /// A gateway with these settings. With unusable ones every call answers `not_configured`.
    pub fn new(settings: &Settings) -> Self {
        let ready = settings.connection().map(|mut connection| Ready {
            scope: Scope::new(connection.project.take(), std::mem::take(&mut connection.projects)),
            origins: connection.origins(),
            service: connection.base_url.as_str().to_owned(),
            tmsys_name: connection.tmsys_name.clone(),
            max_reply_chars: settings.max_reply_chars(),
            asks_first: connection.asks_first,
            read_only: connection.read_only,
            files: Files::new(&mut connection),
            client: Client::new(connection),
            memory: Memory::default(),
        });
        Self { ready: Arc::new(ready), clock: Arc::new(RealTime::default()) }
    }

    /// With another time to wait in.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The time that is waited in.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    fn ready(&self) -> Result<&Ready, Failure> {
        self.ready.as_ref().as_ref().map_err(Clone::clone)
    }

    /// What is wrong with the settings, if anything is.
    pub fn problem(&self) -> Option<&Failure> {
        self.ready.as_ref().as_ref().err()
    }

    /// Whose key it is, where there is a usable one.
    pub fn key_kind(&self) -> Option<KeyKind> {
        Some(self.ready().ok()?.client.key().ok()?.kind())
    }

    /// A key for another purpose that everybody with the same API key has.
    pub(crate) fn derived_key(&self, purpose: &[u8]) -> Result<Vec<u8>, Failure> {
        Ok(self.ready()?.client.key()?.derived(purpose))
    }

    /// Address of the main API.
    pub fn service(&self) -> Result<&str, Failure> {
        self.ready().map(|ready| ready.service.as_str())
    }

    /// Origins of the service's hosts.
    pub fn origins(&self) -> Result<&[String], Failure> {
        self.ready().map(|ready| ready.origins.as_slice())
    }

    /// What tools need that work with files.
    pub fn files(&self) -> Result<&Files, Failure> {
        self.ready().map(|ready| &ready.files)
    }

    /// Asks whether the host of a place is there; `None` when it is not set.
    pub async fn reach(&self, place: Place) -> Option<Result<Reached, Failure>> {
        self.ready().ok()?.client.reach(place).await
    }

    /// The projects that are known without a request.
    pub fn projects(&self) -> Vec<String> {
        self.ready().map(|ready| ready.scope.known()).unwrap_or_default()
    }

    /// The project that calls of an operation without ids go to; `None`: it follows from the key.
    pub async fn project_of(
        &self,
        entry: &'static Entry,
        requested: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let ready = self.ready()?;
        ready.scope.resolve(&ready.call()?, entry, requested, &[]).await
    }

    /// Checks the arguments of a tool that is not called through [`Self::call_tool`]; gives the project they name.
    pub fn admit(&self, tool: &Tool, arguments: &mut Fields) -> Result<Option<String>, Failure> {
        Ok(self.ready()?.checked(tool, None, arguments)?.requested)
    }

    /// Calls a tool and gives its reply. A call that repeats one whose outcome nobody knows is not sent blindly.
    pub async fn call_tool(
        &self,
        tool: &'static Tool,
        arguments: Fields,
        audience: Audience,
    ) -> Result<Reply, Failure> {
        match (catalog::find(tool.name), local::find(tool.name)) {
            (Some(entry), _) => self.call_once(entry, arguments).await,
            (None, Some(local)) => self.call_local(local, arguments, audience).await,
            (None, None) => Err(Failure::new(Code::NotFound, format!("there is no tool `{}`", tool.name))),
        }
    }

    async fn call_local(
        &self,
        local: &'static Local,
        mut arguments: Fields,
        audience: Audience,
    ) -> Result<Reply, Failure> {
        let ready = self.ready()?;
        let Checked { requested, wanted } = ready.checked(local, None, &mut arguments)?;
        let desk = Desk { gateway: self.clone(), arguments, project: requested, audience };
        let mut reply = Reply::made(local.run(desk).await?);
        if let Some(wanted) = wanted {
            reply.select(wanted);
        }
        Ok(reply)
    }

    /// Remembers that ids are of `project`, so that nobody has to look for their owner.
    pub(crate) fn learn(&self, project: &str, ids: impl IntoIterator<Item = OwnedId>) {
        if let Ok(ready) = self.ready() {
            ready.scope.learn(project, ids);
        }
    }

    /// Calls an operation and gives its reply.
    pub async fn call(&self, entry: &'static Entry, arguments: Fields) -> Result<Reply, Failure> {
        let ready = self.ready()?;
        ready.sent(ready.prepared(entry, arguments).await?).await
    }
}

/// A call whose arguments are checked and whose project is known.
#[derive(Clone)]
struct Prepared<'a> {
    entry: &'static Entry,
    call: Call<'a>,
    arguments: Fields,
    ids: Vec<OwnedId>,
    project: Option<String>,
    wanted: Option<Selection>,
}

/// What arguments say that is not the operation's.
struct Checked {
    requested: Option<String>,
    wanted: Option<Selection>,
}

/// The ids that identify the project of a call.
fn ids(entry: &Entry, arguments: &Fields) -> Vec<OwnedId> {
    // Artifacts belong to players of runs.
    let of_players = entry.place == Place::Knowledge;
    owned_ids(arguments).into_iter().map(|id| if of_players { id.of_run() } else { id }).collect()
}

impl Ready {
    /// Everything that comes before the request of an operation.
    async fn prepared(&self, entry: &'static Entry, mut arguments: Fields) -> Result<Prepared<'_>, Failure> {
        let Checked { requested, wanted } = self.checked(entry, Some(entry), &mut arguments)?;
        let call = self.call()?;
        let ids = ids(entry, &arguments);
        let project = self.scope.resolve(&call, entry, requested.as_deref(), &ids).await?;
        if let Some(project) = project.as_ref().filter(|_| entry.names_project()) {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }
        Ok(Prepared { entry, call, arguments, ids, project, wanted })
    }

    /// Sends the request of an operation and makes a reply of its answer.
    async fn sent(&self, prepared: Prepared<'_>) -> Result<Reply, Failure> {
        let Prepared { entry, call, mut arguments, ids, project, wanted } = prepared;
        let mut answer = call.succeed(entry, &arguments, project.as_deref()).await?;
        if let Some(whole) = reply::whole_instead(entry, &arguments, &answer) {
            answer = call.succeed(entry, &whole, project.as_deref()).await?;
            arguments = whole;
        }
        let mut reply = Reply::new(entry, &arguments, &answer, &call.key, &self.within())?;
        if let Some(project) = &project {
            self.scope.learn(project, ids);
            self.scope.learn(project, reply.fields().map(owned_ids).unwrap_or_default());
        }
        if let Some(wanted) = wanted {
            reply.select(wanted);
        }
        reply.point_to_next_page();
        Ok(reply.with_pictures(call.deadline).await.of_project(project))
    }

    fn within(&self) -> Within<'_> {
        Within { tmsys_name: &self.tmsys_name, max_reply_chars: self.max_reply_chars }
    }

    /// A call that begins now.
    fn call(&self) -> Result<Call<'_>, Failure> {
        Ok(Call {
            client: &self.client,
            key: self.client.key()?,
            deadline: Instant::now() + CALL_LIMIT,
            tmsys_name: &self.tmsys_name,
        })
    }

    /// Checks the arguments against everything that can be known without a request; takes out what is ours. A call that
    /// nobody has agreed to yet ends here.
    fn checked(
        &self,
        tool: &Tool,
        entry: Option<&Entry>,
        arguments: &mut Fields,
    ) -> Result<Checked, Failure> {
        if self.read_only && !tool.effect.is_read_only() {
            let failure = Failure::new(Code::InvalidArguments, read_only_refusal(tool));
            return Err(failure.hint("nothing was sent"));
        }
        let mut violations = Vec::new();
        let requested = take_project(arguments, &mut violations);
        let confirmed = tool.confirm.is_some() && take_confirmation(arguments, &mut violations);
        let wanted = if tool.takes_fields { take_fields(tool, arguments, &mut violations) } else { None };
        violations.extend(arguments::check(tool.input_schema(), arguments, Mode::Arguments));
        for rule in tool.rules.iter().chain(tool.own_rules) {
            rule.check(arguments, &mut violations);
        }
        let laid_out = entry.and_then(|entry| wire::layout(entry, arguments, &self.tmsys_name).err());
        for more in broken_ids(arguments).into_iter().chain(laid_out.unwrap_or_default()) {
            if violations.iter().all(|known| known.path != more.path) {
                violations.push(more);
            }
        }
        if !violations.is_empty() {
            return Err(Failure::invalid_arguments(tool.name, &violations));
        }
        match confirmation(tool, arguments) {
            Some(failure) if self.asks_first && !confirmed => Err(failure),
            _ => Ok(Checked { requested, wanted }),
        }
    }
}

fn take_project(arguments: &mut Fields, violations: &mut Vec<Violation>) -> Option<String> {
    let project = match arguments.shift_remove(PROJECT_ID)? {
        Value::Null => return None,
        Value::String(project) => project,
        Value::Number(project) => project.to_string(),
        _ => {
            violations.push(Violation::new(PROJECT_ID, "must be a string"));
            return None;
        }
    };
    if let Err(rule) = wire::check_segment(&project) {
        violations.push(Violation::new(PROJECT_ID, rule));
    }
    Some(project)
}

fn take_confirmation(arguments: &mut Fields, violations: &mut Vec<Violation>) -> bool {
    match arguments.shift_remove(CONFIRM) {
        Some(Value::Bool(confirmed)) => confirmed,
        Some(Value::String(text)) if text == "true" => true,
        None | Some(Value::Null) => false,
        Some(_) => {
            violations.push(Violation::new(CONFIRM, "must be true or false"));
            false
        }
    }
}

/// The names as text with commas, as a list, or as the text of a JSON list: hosts send them all.
fn take_fields(tool: &Tool, arguments: &mut Fields, violations: &mut Vec<Violation>) -> Option<Selection> {
    let names: Option<Vec<String>> = match arguments.shift_remove(FIELDS)? {
        Value::Null => return None,
        Value::String(text) => serde_json::from_str(&text)
            .ok()
            .or_else(|| Some(text.split(',').map(|name| name.trim().to_owned()).collect())),
        list => serde_json::from_value(list).ok(),
    };
    let Some(names) = names else {
        violations.push(Violation::new(FIELDS, "must be a list of names"));
        return None;
    };
    Selection::parse(tool, &names).map_err(|broken| violations.extend(broken)).ok()
}

/// The refusal of a call that a person has to agree to, if it is one.
fn confirmation(tool: &Tool, arguments: &Fields) -> Option<Failure> {
    let what = (tool.confirm?)(arguments)?;
    let failure = Failure::new(Code::ConfirmationRequired, format!("{} {what}", tool.name));
    Some(failure.hint("nothing was sent: ask the person, then call again with `confirm: true`"))
}
