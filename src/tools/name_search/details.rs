//! What a caller needs to start what was found: the slots of plans and the players of tests.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::json;

use super::{FoundRecord, NameMatch, NameSearchAnswer, RecordKind};
use crate::{
    call::paging::Omission,
    failure::Failure,
    service::api::{
        Id, Uuid,
        plans::{GetTestPlan, TestPlan},
        tests::{GetTest, TestCase},
    },
    text::shorten_line,
    tools::{reader::Reader, waiting::LONGEST_NAME},
};

/// Largest number of records that are read.
const MOST_RECORDS: usize = 20;

/// Names by the numbers that a start takes.
type NamesByNumber = BTreeMap<usize, String>;

/// Adds the slots of the plans and the players of the tests that have one of the names. What could not be read is named
/// in the answer.
pub(super) async fn add(reader: &Reader, answer: &mut NameSearchAnswer) {
    let named = answer
        .results
        .iter_mut()
        .filter(|result| matches!(result.r#match, NameMatch::Exact | NameMatch::Case));
    let records = named.flat_map(|result| &mut result.records);
    let mut records: Vec<_> =
        records.filter(|record| matches!(record.kind, RecordKind::Test | RecordKind::TestPlan)).collect();

    let skipped = records.len().saturating_sub(MOST_RECORDS);
    records.truncate(MOST_RECORDS);
    let reads = records.into_iter().map(|record| add_to_record(reader, record));
    answer.unread.extend(join_all(reads).await.into_iter().flatten());
    if skipped > 0 {
        let what = format!("slots and players of {skipped} more records");
        let why = format!("a search reads at most {MOST_RECORDS} records");
        answer.unread.push(Omission { what, why });
    }

    answer.incomplete = (!answer.unread.is_empty()).then_some(true);
}

/// Reads a record and adds its slots or players. Returns what could not be read.
async fn add_to_record(reader: &Reader, record: &mut FoundRecord) -> Option<Omission> {
    let (field, names) = if record.kind == RecordKind::Test {
        ("players", read_players(reader, &record.id).await)
    } else {
        ("slots", read_slots(reader, &record.id).await)
    };

    match names {
        Ok(names) => {
            record.more.insert(field.to_owned(), json!(names));
            None
        }
        Err(failure) => Some(Omission { what: format!("{field} of {}", record.id), why: failure.message }),
    }
}

async fn read_players(reader: &Reader, id: &str) -> Result<NamesByNumber, Failure> {
    let operation =
        GetTest { test_id: Id(id.to_owned()), version: None, include_shared_collection_steps: Some(false) };
    let TestCase { content, .. } = reader.read(&operation).await?;
    let name = |key: &String| {
        let name = content.players_by_key.get(key).and_then(|player| player.name.as_ref());
        shorten_line(name.unwrap_or(key), LONGEST_NAME)
    };

    Ok((1..).zip(content.player_order.iter().map(name)).collect())
}

async fn read_slots(reader: &Reader, id: &str) -> Result<NamesByNumber, Failure> {
    let plan: TestPlan = reader.read(&GetTestPlan { test_plan_id: Uuid(id.to_owned()) }).await?;
    let name = |name: Option<String>| shorten_line(name.as_deref().unwrap_or("unnamed"), LONGEST_NAME);

    let others = plan.slots.into_iter().flatten().map(|slot| (slot.index, name(slot.name)));
    Ok([(1, name(plan.default_slot_name))].into_iter().chain(others).collect())
}
