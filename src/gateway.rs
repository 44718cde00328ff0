//! One call of a tool, start to end: arguments, project, request, answer, reply.

use std::sync::Arc;

mod checking;
mod opening;
mod repeating;
mod sending;

pub use opening::{Artifact, Refusal};

use self::{checking::Checked, repeating::Memory};

use crate::{
    catalog::{self, Entry},
    client::{Client, Reached},
    config::{KeyKind, Settings},
    failure::{Code, Failure},
    files::Files,
    local::{self, Audience, Desk, Local},
    operation::{Fields, Place},
    reply::Reply,
    scope::{OwnedId, Scope},
    tool::Tool,
    waiting::{Clock, RealTime},
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
        ready.sent(ready.prepared(entry, arguments, &*self.clock).await?).await
    }
}
