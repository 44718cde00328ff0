//! Looking for what a call may have made, in the list where it would be.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::super::{Prepared, Ready};
use crate::{
    catalog,
    failure::{Code, Failure},
    operation::{Fields, Listed, Same},
    reply::Reply,
};

/// Records a page; the most that the service gives (supplement 1.3).
const PAGE_SIZE: usize = 100;

/// Most pages that are looked through.
const MOST_PAGES: usize = 20;

/// How much earlier than the call a record may seem to be made: the parts of a service need not agree on the time.
const MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// The same where the service does not say what time it is, and only ours is known.
const WIDE_MARGIN: SignedDuration = SignedDuration::from_mins(15);

/// What a look has shown.
pub(super) enum Seen {
    /// The call has not happened.
    Nothing,
    /// The call has not happened before, and has now.
    Done(Reply),
    /// What the call seems to have made, never none.
    Records(Vec<Value>),
}

impl Seen {
    pub(super) fn of(found: Vec<Value>) -> Self {
        if found.is_empty() { Self::Nothing } else { Self::Records(found) }
    }
}

impl Ready {
    /// The records that a call may have made which was first sent so long `ago`.
    pub(super) async fn listed(
        &self,
        list: &Listed,
        prepared: &Prepared<'_>,
        ago: Duration,
    ) -> Result<Vec<Value>, Failure> {
        let Prepared { call, arguments, project, .. } = prepared;
        let entry = catalog::find(list.list)
            .ok_or_else(|| Failure::new(Code::NotFound, format!("there is no `{}`", list.list)))?;
        let (mut found, mut since) = (Vec::new(), None);
        for page in 0..MOST_PAGES {
            let asked = asked(list, arguments, page);
            let answer = call.succeed(entry, &asked, project.as_deref()).await?;
            let since = *since.get_or_insert_with(|| start(answer.date, ago));
            let reply = Reply::new(entry, &asked, &answer, &call.key, &self.within())?;
            let records = reply.value().get("data").and_then(Value::as_array);
            let records = records.map(Vec::as_slice).unwrap_or_default();
            let may_be =
                |record: &&Value| is_new(list, record, since) && is_alike(list.same, record, arguments);
            found.extend(records.iter().filter(may_be).map(|record| told(list, record)));
            let pages = reply.value().pointer("/pagination/total_pages").and_then(Value::as_u64);
            let is_last = pages.is_none_or(|pages| json!(page + 1).as_u64() >= Some(pages));
            if records.is_empty() || is_last || is_past(list, records, since) {
                return Ok(found);
            }
        }
        if found.is_empty() {
            return Err(Failure::new(
                Code::Rejected,
                format!("it has more than {} records", MOST_PAGES * PAGE_SIZE),
            ));
        }
        Ok(found)
    }
}

/// When a record was made at the earliest, by the service's clock.
fn start(date: Option<Timestamp>, ago: Duration) -> Timestamp {
    let (now, margin) = date.map_or_else(|| (Timestamp::now(), WIDE_MARGIN), |date| (date, MARGIN));
    let back = SignedDuration::try_from(ago).unwrap_or(SignedDuration::MAX).saturating_add(margin);
    now.checked_sub(back).unwrap_or(Timestamp::MIN)
}

/// The arguments of the list.
fn asked(list: &Listed, arguments: &Fields, page: usize) -> Fields {
    let paging = [("page".to_owned(), json!(page)), ("page_size".to_owned(), json!(PAGE_SIZE))];
    let order = list.newest_first.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    let narrowed =
        list.narrowed.iter().filter_map(|name| Some(((*name).to_owned(), arguments.get(*name)?.clone())));
    paging.into_iter().chain(order).chain(narrowed).collect()
}

fn made(list: &Listed, record: &Value) -> Option<Timestamp> {
    record.get(list.made?)?.as_str()?.parse().ok()
}

/// A record that does not say when it was made may be new.
fn is_new(list: &Listed, record: &Value, since: Timestamp) -> bool {
    made(list, record).is_none_or(|made| made >= since)
}

/// Whether a page, newest first by its own word, ends with what is too old: nothing newer follows.
fn is_past(list: &Listed, records: &[Value], since: Timestamp) -> bool {
    let times: Vec<_> = records.iter().filter_map(|record| made(list, record)).collect();
    let is_descending = times.len() > 1 && times.is_sorted_by(|one, next| one >= next);
    is_descending && times.last().is_some_and(|last| *last < since)
}

fn is_alike(same: &[Same], record: &Value, arguments: &Fields) -> bool {
    same.iter().all(|same| {
        let default = same.default.map(Value::from);
        let wanted = argument(arguments, same.argument).or(default.as_ref());
        let held = record.get(same.field).filter(|held| !held.is_null()).or(default.as_ref());
        // What the record does not say, or the caller did not ask for, tells nothing apart.
        wanted.zip(held).is_none_or(|(wanted, held)| says(held, wanted))
    })
}

/// The argument at a dotted path.
fn argument<'a>(arguments: &'a Fields, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Whether a record holds what was asked for; a list may hold more.
fn says(held: &Value, wanted: &Value) -> bool {
    match (held, wanted) {
        (Value::String(held), Value::String(wanted)) => held.eq_ignore_ascii_case(wanted),
        (Value::Array(held), Value::Array(wanted)) => wanted.iter().all(|one| held.contains(one)),
        (Value::Number(held), Value::Number(wanted)) => held.as_f64() == wanted.as_f64(),
        _ => held == wanted,
    }
}

fn told(list: &Listed, record: &Value) -> Value {
    let field = |name: &&str| Some(((*name).to_owned(), record.get(*name)?.clone()));
    Value::Object(list.told.iter().filter_map(field).collect())
}
