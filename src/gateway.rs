//! One call of a tool, start to end: arguments, project, request, answer, reply.

use serde_json::Value;
use tokio::time::Instant;

use crate::{
    arguments::{self, Mode, Violation},
    call::Call,
    catalog::Entry,
    client::{CALL_LIMIT, Client, Reached},
    config::{KeyKind, Settings},
    failure::{Code, Failure},
    operation::{Fields, Place},
    reply::{self, Reply, Selection, Within},
    scope::{Scope, broken_ids, owned_ids},
    wire,
};

/// Argument of every tool in global scope; project scope accepts it too, to refuse another project.
pub const PROJECT_ID: &str = "project_id";

/// Argument of tools that may be irreversible or costly: a person has agreed.
pub const CONFIRM: &str = "confirm";

/// Argument of tools that read: what of the answer is wanted.
pub const FIELDS: &str = "fields";

/// The way from tools to the service.
#[derive(Debug)]
pub struct Gateway {
    ready: Result<Ready, Failure>,
}

#[derive(Debug)]
struct Ready {
    client: Client,
    scope: Scope,
    tmsys_name: String,
    max_reply_chars: usize,
    asks_first: bool,
}

impl Gateway {
    /// A gateway with these settings. With unusable ones every call answers `not_configured`.
    pub fn new(settings: &Settings) -> Self {
        let ready = settings.connection().map(|mut connection| Ready {
            scope: Scope::new(connection.project.take(), std::mem::take(&mut connection.projects)),
            tmsys_name: connection.tmsys_name.clone(),
            max_reply_chars: settings.max_reply_chars(),
            asks_first: connection.asks_first,
            client: Client::new(connection),
        });
        Self { ready }
    }

    /// What is wrong with the settings, if anything is.
    pub fn problem(&self) -> Option<&Failure> {
        self.ready.as_ref().err()
    }

    /// Whose key it is, where there is a usable one.
    pub fn key_kind(&self) -> Option<KeyKind> {
        Some(self.ready.as_ref().ok()?.client.key().ok()?.kind())
    }

    /// Asks whether the host of a place is there; `None` when it is not set.
    pub async fn reach(&self, place: Place) -> Option<Result<Reached, Failure>> {
        self.ready.as_ref().ok()?.client.reach(place).await
    }

    /// Calls an operation and gives its reply.
    pub async fn call(&self, entry: &'static Entry, mut arguments: Fields) -> Result<Reply, Failure> {
        let ready = self.ready.as_ref().map_err(Clone::clone)?;
        let Checked { requested, confirmed, wanted } = checked(entry, &mut arguments, &ready.tmsys_name)?;
        if ready.asks_first && !confirmed {
            confirmation(entry, &arguments).map_or(Ok(()), Err)?;
        }
        let call = Call {
            client: &ready.client,
            key: ready.client.key()?,
            deadline: Instant::now() + CALL_LIMIT,
            tmsys_name: &ready.tmsys_name,
        };
        // Artifacts belong to players of runs.
        let of_players = entry.place == Place::Knowledge;
        let ids = owned_ids(&arguments).into_iter().map(|id| if of_players { id.of_run() } else { id });
        let ids: Vec<_> = ids.collect();
        let project = ready.scope.resolve(&call, entry, requested.as_deref(), &ids).await?;
        if let Some(project) = project.as_ref().filter(|_| entry.names_project()) {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }
        let answer = call.send(entry, &arguments, project.as_deref()).await?;
        if !reply::is_success(entry, &answer) {
            let obstacle = reply::obstacle(entry, &answer);
            return Err(obstacle.unwrap_or_else(|| call.refused(entry, &answer)));
        }
        let within = Within { tmsys_name: &ready.tmsys_name, max_reply_chars: ready.max_reply_chars };
        let mut reply = Reply::new(entry, &arguments, &answer, &call.key, &within)?;
        if let Some(project) = &project {
            ready.scope.learn(project, ids);
            ready.scope.learn(project, reply.fields().map(owned_ids).unwrap_or_default());
        }
        if let Some(wanted) = wanted {
            reply.select(wanted);
        }
        reply.point_to_next_page();
        Ok(reply.with_pictures(call.deadline).await)
    }
}

/// What arguments say that is not the operation's.
struct Checked {
    requested: Option<String>,
    confirmed: bool,
    wanted: Option<Selection>,
}

/// Checks the arguments against everything that can be known without a request; takes out what is ours.
fn checked(entry: &Entry, arguments: &mut Fields, tmsys_name: &str) -> Result<Checked, Failure> {
    let mut violations = Vec::new();
    let requested = take_project(arguments, &mut violations);
    let confirmed = entry.confirm.is_some() && take_confirmation(arguments, &mut violations);
    let wanted = if entry.takes_fields() { take_fields(entry, arguments, &mut violations) } else { None };
    violations.extend(arguments::check(entry.input_schema(), arguments, Mode::Arguments));
    for rule in entry.rules.iter().chain(entry.own_rules) {
        rule.check(arguments, &mut violations);
    }
    let laid_out = wire::layout(entry, arguments, tmsys_name).err().unwrap_or_default();
    for more in broken_ids(arguments).into_iter().chain(laid_out) {
        if violations.iter().all(|known| known.path != more.path) {
            violations.push(more);
        }
    }
    if violations.is_empty() {
        Ok(Checked { requested, confirmed, wanted })
    } else {
        Err(Failure::invalid_arguments(entry.name, &violations))
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

/// The names as a list, as text with commas, or as the text of a JSON list: hosts send them all.
fn take_fields(entry: &Entry, arguments: &mut Fields, violations: &mut Vec<Violation>) -> Option<Selection> {
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
    Selection::parse(entry, &names).map_err(|broken| violations.extend(broken)).ok()
}

/// The refusal of a call that a person has to agree to, if it is one.
fn confirmation(entry: &Entry, arguments: &Fields) -> Option<Failure> {
    let what = (entry.confirm?)(arguments)?;
    let failure = Failure::new(Code::ConfirmationRequired, format!("{} {what}", entry.name));
    Some(failure.hint("nothing was sent: ask the person, then call again with `confirm: true`"))
}
