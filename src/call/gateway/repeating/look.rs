//! Looking for what a call may have made, in the list where it would be.

use std::{collections::BTreeSet, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    super::{Ready, sending::Prepared},
    FOR_THE_WRITE,
    alike::{as_shown, is_alike},
};
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    fields::Fields,
    service::{catalog, operation::ListProbe},
};

/// Records a page; the most that the service gives (supplement 1.3).
const PAGE_SIZE: usize = 100;

/// Most pages that are looked through.
const MOST_PAGES: usize = 20;

/// How much earlier than the call a record may seem to be made: the parts of a service need not agree on the time.
const MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// The same where the service does not say what time it is, and only ours is known; what is further apart does not agree
/// on the time at all.
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

/// Since when a record may have been made, and which was not.
#[derive(Clone, Debug)]
pub(super) struct Since {
    /// How long ago the first of the equal calls was sent, by our clock.
    pub(super) first: Duration,
    /// What time it was then, by the clock of the service, where that is known.
    pub(super) sent: Option<Timestamp>,
    /// What time it is, by our clock.
    pub(super) now: Timestamp,
    /// What equal calls of known outcome made, by its ids in lower case.
    pub(super) given: BTreeSet<String>,
}

impl Since {
    /// When a record was made at the earliest, by the clock of the service where it says its `date`. That clock may run
    /// faster than ours, or slower: the earlier of both ways to count counts.
    fn start(&self, date: Option<Timestamp>) -> Timestamp {
        let first = SignedDuration::try_from(self.first).unwrap_or(SignedDuration::MAX);
        let agrees = |date: &Timestamp| date.duration_since(self.now).abs() <= WIDE_MARGIN;
        let ours = || date.filter(agrees).map(|_| before(self.now, first));
        let sent = self.sent.or_else(ours);
        let margin = date.and(sent).map_or(WIDE_MARGIN, |_| MARGIN);
        let counted = before(date.unwrap_or(self.now), first.saturating_add(margin));

        sent.map_or(counted, |sent| counted.min(before(sent, MARGIN)))
    }

    /// Whether somebody was told this record already.
    fn knows(&self, list: &ListProbe, record: &Value) -> bool {
        let id = list.shown_fields.first().and_then(|name| record.get(*name)?.as_str());
        id.is_some_and(|id| self.given.contains(&id.to_ascii_lowercase()))
    }
}

fn before(moment: Timestamp, span: SignedDuration) -> Timestamp {
    moment.checked_sub(span).unwrap_or(Timestamp::MIN)
}

/// A page of a list.
struct Page<'a> {
    records: &'a [Value],
    is_last: bool,
}

impl<'a> Page<'a> {
    /// The page with this number (supplement 1.3). One that does not say whether more follow shows nothing.
    fn read(value: &'a Value, number: usize) -> Option<Self> {
        let records = value.get("data")?.as_array()?;
        let pages = value.pointer("/pagination/total_pages")?.as_u64()?;
        let is_last = records.is_empty() || json!(number + 1).as_u64() >= Some(pages);
        Some(Self { records, is_last })
    }
}

impl Ready {
    /// The records that a call may have made.
    pub(super) async fn listed(
        &self,
        list: &ListProbe,
        prepared: &Prepared<'_>,
        since: &Since,
    ) -> Result<Vec<Value>, Failure> {
        let mut found = Vec::new();
        let outcome = self.gather(list, prepared, since, &mut found).await;
        // What is found is found, whatever the rest of the list may hold.
        if found.is_empty() { outcome.map(|()| found) } else { Ok(found) }
    }

    async fn gather(
        &self,
        list: &ListProbe,
        prepared: &Prepared<'_>,
        since: &Since,
        found: &mut Vec<Value>,
    ) -> Result<(), Failure> {
        let Prepared { call, arguments, project, clock, .. } = prepared;
        let entry = catalog::find(list.list)
            .ok_or_else(|| Failure::new(Code::NotFound, format!("there is no `{}`", list.list)))?;
        let call = call.without(FOR_THE_WRITE);
        let shown = as_shown(arguments, &call.key);
        let mut start = None;

        for number in 0..MOST_PAGES {
            let asked = asked(list, arguments, number);
            let answer = call.succeed(entry, &asked, project.as_deref()).await?;
            self.memory.hear(answer.date, *clock);

            let start = *start.get_or_insert_with(|| since.start(answer.date));
            let reply = Reply::new(entry, &asked, &answer, &call.key, &self.within())?;
            let page = Page::read(reply.value(), number).ok_or_else(|| no_page(entry.name))?;
            let may_be = |record: &&Value| {
                let is_like = is_new(list, record, start) && is_alike(list.matches, record, &shown);
                is_like && !since.knows(list, record)
            };

            found.extend(page.records.iter().filter(may_be).map(|record| told(list, record)));
            if page.is_last || is_past(list, page.records, start) {
                return Ok(());
            }
        }

        Err(Failure::new(Code::Rejected, format!("it has more than {} records", MOST_PAGES * PAGE_SIZE)))
    }
}

fn no_page(list: &str) -> Failure {
    Failure::new(Code::BadResponse, format!("{list}: the service's answer is not a page of a list"))
}

/// The arguments of the list.
fn asked(list: &ListProbe, arguments: &Fields, page: usize) -> Fields {
    let paging = [("page".to_owned(), json!(page)), ("page_size".to_owned(), json!(PAGE_SIZE))];
    let order = list.newest_first.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    let narrowed =
        list.filters.iter().filter_map(|name| Some(((*name).to_owned(), arguments.get(*name)?.clone())));
    paging.into_iter().chain(order).chain(narrowed).collect()
}

fn made(list: &ListProbe, record: &Value) -> Option<Timestamp> {
    record.get(list.created_at?)?.as_str()?.parse().ok()
}

/// A record that does not say when it was made may be new.
fn is_new(list: &ListProbe, record: &Value, since: Timestamp) -> bool {
    made(list, record).is_none_or(|made| made >= since)
}

/// Whether nothing new follows: the list was asked for the newest first, every record of the page says when it was made,
/// and they keep to that order down to one that is too old.
fn is_past(list: &ListProbe, records: &[Value], since: Timestamp) -> bool {
    let times: Option<Vec<_>> = records.iter().map(|record| made(list, record)).collect();
    let times = times.filter(|times| !list.newest_first.is_empty() && times.len() > 1);
    times.is_some_and(|times| {
        times.is_sorted_by(|one, next| one > next) && times.last().is_some_and(|last| *last < since)
    })
}

fn told(list: &ListProbe, record: &Value) -> Value {
    let field = |name: &&str| Some(((*name).to_owned(), record.get(*name)?.clone()));
    Value::Object(list.shown_fields.iter().filter_map(field).collect())
}
