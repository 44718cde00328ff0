//! Asks the service whether a call happened, and words the refusals of calls that were not sent.

use std::{cmp::Reverse, ops::ControlFlow, time::Duration};

use serde_json::{Value, json};

use super::WRITE_RESERVE;
use crate::{
    call::{
        Caller, PreparedCall,
        paging::{self, MAX_PAGES, PAGE_SIZE, Page, ScanEnd},
        reply::Reply,
        request::RequestSender,
    },
    client::ApiKey,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        operation::{DuplicateCheck, FieldMatch, ListProbe, Probe},
    },
    text,
};

/// Largest number of records that a failure shows.
const MAX_SHOWN_RECORDS: usize = 5;

/// What the service shows about a call.
pub(super) enum ProbeOutcome {
    /// The call has not happened.
    NotHappened,
    /// The call had not happened. The question itself has performed it.
    HappenedNow(Box<Reply>),
    /// Records that the call may have made; never empty.
    Found(Vec<Value>),
}

/// Asks the service whether `call` has happened.
///
/// # Errors
/// The failure of the request; `not_found` if no operation of the service shows the results of such calls.
pub(super) async fn ask(
    caller: &Caller,
    check: &DuplicateCheck,
    call: &PreparedCall<'_>,
) -> Result<ProbeOutcome, Failure> {
    let with_request = |failure: Failure, request: &str| {
        let message = format!("the check with `{request}` failed: {failure}");
        Failure { message, ..failure }
    };

    match check.probe {
        Probe::List(list) => {
            let found = find_records(caller, &list, call).await;
            let found = found.map_err(|failure| with_request(failure, list.list))?;
            Ok(if found.is_empty() { ProbeOutcome::NotHappened } else { ProbeOutcome::Found(found) })
        }
        Probe::Repeat { argument, value, found } => {
            let reply = execute_with(caller, call, argument, value).await;
            let reply = reply.map_err(|failure| with_request(failure, &format!("{argument}: {value}")))?;
            // The operation creates the record if there is none, and states whether there was one.
            Ok(if reply.value().get(found) == Some(&Value::Bool(true)) {
                ProbeOutcome::Found(vec![reply.into_value()])
            } else {
                ProbeOutcome::HappenedNow(Box::new(reply))
            })
        }
        Probe::Unavailable(what) => {
            Err(Failure::new(Code::NotFound, format!("no operation of the service shows {what}")))
        }
    }
}

/// Returns the failure of a call that conflicts with what exists, with the records that are in its way, if a list shows
/// them.
pub(super) async fn with_existing(
    caller: &Caller,
    check: &DuplicateCheck,
    call: &PreparedCall<'_>,
    failure: Failure,
) -> Failure {
    let Probe::List(list) = check.probe else { return failure };
    match find_records(caller, &list, call).await {
        Ok(mut found) if !found.is_empty() => {
            found.truncate(MAX_SHOWN_RECORDS);
            failure.detail("existing", found)
        }
        _ => failure,
    }
}

/// Executes a call with another value of one argument.
async fn execute_with(
    caller: &Caller,
    call: &PreparedCall<'_>,
    argument: &str,
    value: bool,
) -> Result<Reply, Failure> {
    let mut arguments = call.request.arguments.clone();
    arguments.insert(argument.to_owned(), Value::Bool(value));
    let request = call.sender.request(call.request.entry, arguments)?;
    caller.execute(PreparedCall { request, ..call.clone() }).await
}

/// Returns the records of a list that the call may have made, the newest first, as callers see them.
///
/// # Errors
/// The failure of a page, unless an earlier page has shown a record.
async fn find_records(
    caller: &Caller,
    probe: &ListProbe,
    call: &PreparedCall<'_>,
) -> Result<Vec<Value>, Failure> {
    let recorded = as_recorded(&call.request.arguments, &call.sender.key);
    // The search must leave time for the write itself.
    let sender = &call.sender.reserving(WRITE_RESERVE);
    let read = |number| async move { read_page(caller, probe, call, sender, number).await };

    let mut found = Vec::new();
    let end = paging::scan(MAX_PAGES, read, |number, page: Page| {
        let is_last = page.records.is_empty() || page.is_last(number);
        found.extend(
            page.records.into_iter().filter(|record| matches_arguments(probe.matches, record, &recorded)),
        );
        Ok(ControlFlow::<(), _>::Continue(is_last))
    });
    let end = end.await;

    if found.is_empty() {
        return match end? {
            ScanEnd::PageLimit => {
                let most = MAX_PAGES * PAGE_SIZE;
                Err(Failure::new(Code::Rejected, format!("the list has more than {most} records")))
            }
            ScanEnd::LastPage | ScanEnd::Stopped(()) => Ok(found),
        };
    }

    let creation_time = |record: &Value| Some(record.get(probe.created_at?)?.as_str()?.to_owned());
    found.sort_by_cached_key(|record| Reverse(creation_time(record)));

    let shown = |record: &Value| {
        let field = |name: &&str| Some(((*name).to_owned(), record.get(*name)?.clone()));
        Value::Object(probe.shown_fields.iter().filter_map(field).collect())
    };
    Ok(found.iter().map(shown).collect())
}

/// Reads a page of the list, filtered by arguments of the call.
async fn read_page(
    caller: &Caller,
    probe: &ListProbe,
    call: &PreparedCall<'_>,
    sender: &RequestSender<'_>,
    number: u64,
) -> Result<Page, Failure> {
    let list = catalog::find(probe.list)
        .ok_or_else(|| Failure::new(Code::NotFound, format!("there is no `{}`", probe.list)))?;
    let mut arguments = paging::page_arguments(&Fields::new(), number);
    arguments.extend(probe.newest_first.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    let filter = |name: &&str| Some(((*name).to_owned(), call.request.arguments.get(*name)?.clone()));
    arguments.extend(probe.filters.iter().filter_map(filter));

    let request = sender.request(list, arguments)?;
    let answer = sender.send_successfully(&request, call.project.as_deref()).await?;
    let reply = Reply::new(&request, answer, &sender.key, &caller.reply_settings)?;
    let page = Page::parse(list.name, reply.into_value())?;

    // Without the number of pages the end of the list is unknown, and an absent record proves nothing.
    if page.total_pages.is_none() {
        let message = format!("{}: the service's answer is not a page of a list", list.name);
        return Err(Failure::new(Code::BadResponse, message));
    }

    Ok(page)
}

/// Returns the arguments as records show them: replies contain neither hidden characters nor the key.
fn as_recorded(arguments: &Fields, key: &ApiKey) -> Fields {
    let mut recorded = Value::Object(arguments.clone());
    text::remove_hidden(&mut recorded);
    key.mask_value(&mut recorded);

    match recorded {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

/// Returns whether no field of the record contradicts the arguments. A field that the record lacks, and an argument
/// that the caller did not pass, contradict nothing.
fn matches_arguments(matches: &[FieldMatch], record: &Value, recorded: &Fields) -> bool {
    matches.iter().all(|one| {
        let wanted = argument_at(recorded, one.argument).cloned().or(one.default.map(Value::from));
        let actual = match record.get(one.field) {
            Some(Value::Null) => one.null_value.map(Value::from),
            actual => actual.cloned(),
        };
        wanted.zip(actual).is_none_or(|(wanted, actual)| matches_value(one.field, &actual, &wanted))
    })
}

/// Returns the argument at a dotted path. Null counts as absent.
fn argument_at<'a>(arguments: &'a Fields, path: &str) -> Option<&'a Value> {
    let mut names = path.split('.');
    let first = arguments.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name)).filter(|value| !value.is_null())
}

/// Returns whether a field has the wanted value. The letter case of ids does not matter, and a list may hold more
/// entries than wanted.
fn matches_value(field: &str, actual: &Value, wanted: &Value) -> bool {
    let is_id = field == "id" || field.ends_with("_id");
    match (actual, wanted) {
        (Value::String(actual), Value::String(wanted)) if is_id => actual.eq_ignore_ascii_case(wanted),
        (Value::Array(actual), Value::Array(wanted)) => wanted.iter().all(|one| actual.contains(one)),
        // `2` and `2.0` are different JSON values of the same number.
        (Value::Number(actual), Value::Number(wanted)) => actual.as_f64() == wanted.as_f64(),
        _ => actual == wanted,
    }
}

/// Returns the failure of a call for which the service shows the records `found`. The equal call whose outcome became
/// unknown `elapsed` ago may have made them.
pub(super) fn probably_happened(
    entry: &OperationEntry,
    check: &DuplicateCheck,
    found: &[Value],
    elapsed: Duration,
) -> Failure {
    let message = format!(
        "{}: not sent: the equal call {} s ago had an unknown outcome and seems to have happened; the records may also be older",
        entry.name,
        elapsed.as_secs()
    );
    let hint = format!("see `details.found`: {}; to repeat the call anyway, call again", check.advice);
    let shown: Vec<_> = found.iter().take(MAX_SHOWN_RECORDS).collect();

    Failure::new(Code::Conflict, message)
        .hint(hint)
        .detail("found", json!(shown))
        .detail("found_count", found.len())
}

/// Returns the failure of a call whose earlier equal call could not be looked up. `may_pass` tells whether a later
/// look-up may succeed.
pub(super) fn probe_failed(
    entry: &OperationEntry,
    check: &DuplicateCheck,
    failure: &Failure,
    elapsed: Duration,
    may_pass: bool,
) -> Failure {
    let message = format!(
        "{}: not sent: the outcome of the equal call {} s ago is unknown, and {failure}",
        entry.name,
        elapsed.as_secs()
    );
    let advice = match check.probe {
        Probe::List(list) => format!("check with `{}`", list.list),
        Probe::Repeat { argument, value, .. } => {
            format!("call with `{argument}: {value}`, which cannot have a second effect")
        }
        Probe::Unavailable(_) => check.advice.to_owned(),
    };
    let next = if may_pass { "or call again later" } else { "to repeat the call anyway, call again" };
    let unknown = Failure::new(Code::OutcomeUnknown, message).hint(format!("{advice}; {next}"));

    match check.probe {
        Probe::Unavailable(_) => unknown,
        _ => unknown.detail("looking_failed", json!(failure.code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_the_kind_of_field() {
        for (field, actual, wanted, expected) in [
            ("build_id", json!("AB"), json!("ab"), true),
            ("name", json!("AB"), json!("ab"), false),
            ("tags", json!(["a", "b"]), json!(["b"]), true),
            ("tags", json!(["a"]), json!(["b"]), false),
            ("count", json!(2.0), json!(2), true),
            ("count", json!("2"), json!(2), false),
        ] {
            assert_eq!(matches_value(field, &actual, &wanted), expected, "{field}: {actual} {wanted}");
        }
    }

    #[test]
    fn an_argument_is_found_by_its_path() {
        let arguments: Fields = serde_json::from_value(json!({"a": {"b": 1, "c": null}})).expect("an object");
        for (path, expected) in [("a.b", Some(json!(1))), ("a.c", None), ("a.x", None), ("x", None)] {
            assert_eq!(argument_at(&arguments, path).cloned(), expected, "{path}");
        }
    }
}
