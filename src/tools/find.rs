//! `find_by_name`: records by their names, in the lists of the service. Names match in any letter case and with any white
//! space; accents count as what they look like (NFC).

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    call::paging::{LONG_LIST_PAGES, Omission, deduplicate, how_to_repeat},
    failure::Failure,
    fields::{Fields, text_at},
    service::{
        api::{
            Id, Uuid,
            builds::{BuildDetail, GetBuild},
            plans::{GetTestPlan, TestPlan},
            tests::{GetTest, TestCase},
        },
        record_kind::RecordKind,
    },
    text::{
        name_match::{ComparedName, NameMatch},
        shorten_line,
    },
    tools::{
        reader::{Reader, Unread, shows_folders},
        waiting::LONGEST_NAME,
    },
};

/// Largest number of records that are shown for a name that none of them has.
const MOST_NEAREST: usize = 10;

/// Longest text about what was not read, in characters.
const LONGEST_REASON: usize = 300;

/// Largest number of records of one call that are read for what a start needs.
const MOST_DETAILED: usize = 20;

/// Fields that tell records with the same name apart.
const DISTINGUISHING: &str = "folder_path type path platform kind providerType description severity status pinned \
                              file_name test_count steps_count created_at";

/// What was found for all names.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NameSearchAnswer {
    /// `true`: something is missing; `unread` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<bool>,
    /// How to get what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<String>,
    /// One result for each name, in the order of `names`.
    pub results: Vec<NameResult>,
    /// What could not be read: lists, in which other records may have the names, or fields of records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// What was found for one name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NameResult {
    /// The name as it was asked for.
    pub name: String,
    /// That of the first record, or `none`. `incomplete`: lists were not read whole, so that other records may have the name.
    pub r#match: NameMatch,
    /// Those with the name, or else the nearest, the best first.
    pub records: Vec<FoundRecord>,
    /// Number of further records whose name contains this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<usize>,
    /// What was not read of the lists.
    #[serde(skip)]
    pub reason: Option<String>,
    /// Whether a later search may find more. What the key may not read stays unread.
    #[serde(skip)]
    pub is_uncertain: bool,
}

/// A record that was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct FoundRecord {
    pub kind: RecordKind,
    pub id: String,
    pub name: String,
    /// `exact`: this name or id; `case`: in other letter case; `beginning` or `part`: the name begins with it or contains it.
    pub r#match: NameMatch,
    /// Fields that tell records apart, and what a start needs.
    #[serde(flatten)]
    pub more: Fields,
    /// The record as its list has it.
    #[serde(skip)]
    pub listed: Value,
}

impl FoundRecord {
    /// Returns a record of the list of `kind`; `None` if it has no id.
    pub fn from_record(kind: RecordKind, record: &Value) -> Option<Self> {
        let field = |field: &str| {
            let value =
                record.get(field).filter(|value| !value.is_null() && **value != "" && **value != 0)?;
            // `kind` is the kind of the record in the answer, and the description of a bug is long.
            let shown = if field == "kind" { "platform" } else { field };
            (kind != RecordKind::Bug || field != "description").then(|| (shown.to_owned(), value.clone()))
        };
        let id = text_at(record, kind.id_field())?.to_owned();
        let name = kind.names(record).first().copied().unwrap_or_default().to_owned();
        let more = DISTINGUISHING.split(' ').filter_map(field).collect();

        Some(Self { kind, id, name, r#match: NameMatch::Exact, more, listed: record.clone() })
    }

    /// Returns the record with this id, of which nothing else is known.
    pub(crate) fn with_id(kind: RecordKind, id: &str) -> Self {
        let (id, name, more, listed) = (id.to_owned(), String::new(), Fields::new(), Value::Null);
        Self { kind, id, name, r#match: NameMatch::Exact, more, listed }
    }

    /// Returns whether the record has the name that was searched for, and not only a part of it.
    pub fn has_name(&self) -> bool {
        self.r#match <= NameMatch::Case
    }

    /// Returns whether the record is a bug that nobody works on any more.
    fn is_archived(&self) -> bool {
        let status = text_at(&self.listed, "status");
        self.kind == RecordKind::Bug && status.is_some_and(|status| status.eq_ignore_ascii_case("archived"))
    }
}

impl NameResult {
    /// Returns the result of a search that read everything. `records` begins with the best match.
    pub fn new(name: &str, records: Vec<FoundRecord>) -> Self {
        let r#match = records.first().map_or(NameMatch::None, |record| record.r#match);
        Self { name: name.to_owned(), r#match, records, more: None, reason: None, is_uncertain: false }
    }

    /// Returns the only record that has the name. One with the same letters is meant before one in other letter case, and a
    /// bug in use before archived ones.
    ///
    /// # Errors
    /// The result itself, if no record or several have the name, or may have it.
    pub fn into_single(mut self) -> Result<FoundRecord, Self> {
        let best = self.records.iter().map(|record| record.r#match).min();
        let is_meant = |record: &FoundRecord| record.has_name() && Some(record.r#match) == best;
        let numbered = self.records.iter().enumerate().filter(|(_, record)| is_meant(record));
        let mut meant: Vec<_> = numbered.map(|(place, record)| (place, record.is_archived())).collect();
        if meant.len() > 1 {
            meant.retain(|(_, is_archived)| !is_archived);
        }

        match *meant {
            [(place, _)] if !self.is_uncertain => Ok(self.records.swap_remove(place)),
            _ => Err(self),
        }
    }

    /// Returns why not exactly one record is meant. `nouns` are the kinds of records that were searched.
    pub fn problem(&self, nouns: &str) -> String {
        let Self { name, records, .. } = self;
        let is_found = records.iter().any(FoundRecord::has_name);

        match &self.reason {
            Some(reason) if is_found && self.is_uncertain => {
                format!("other records may be named `{name}`, and not every list could be read: {reason}")
            }
            _ if is_found => format!("`{name}` names {} records", records.len()),
            Some(reason) => {
                format!(
                    "no {nouns} with the name `{name}` was found, and not every list could be read: {reason}"
                )
            }
            None => format!("no {nouns} has the name `{name}`"),
        }
    }
}

/// Returns whether a record of the list of `kind` has this name, in any letter case.
pub fn is_named(kind: RecordKind, record: &Value, name: &str) -> bool {
    let asked = ComparedName::new(name);
    let matches = kind.names(record).into_iter().filter_map(|own| asked.compare(&ComparedName::new(own)));
    matches.min().is_some_and(|best| best <= NameMatch::Case)
}

/// A record of a list, with its id and its names as they are compared.
struct ListedRecord {
    found: FoundRecord,
    id: ComparedName,
    names: Vec<ComparedName>,
}

impl ListedRecord {
    fn new(kind: RecordKind, record: &Value) -> Option<Self> {
        let found = FoundRecord::from_record(kind, record)?;
        let names = kind.names(record).into_iter().map(ComparedName::new).collect();
        Some(Self { id: ComparedName::new(&found.id), names, found })
    }

    fn find(&self, asked: &ComparedName) -> Option<FoundRecord> {
        let by_name = self.names.iter().filter_map(|name| asked.compare(name));
        let by_id = asked.compare(&self.id).filter(|how| *how <= NameMatch::Case);
        let r#match = by_name.chain(by_id).min()?;

        Some(FoundRecord { r#match, ..self.found.clone() })
    }
}

/// The lists of some kinds of records.
struct Lists {
    records: Vec<ListedRecord>,
    unread: Unread,
}

impl Lists {
    /// Reads the lists concurrently.
    ///
    /// # Errors
    /// The failure of the first list, if no list could be read.
    async fn read(reader: &Reader, kinds: &[RecordKind]) -> Result<Self, Failure> {
        let kinds: BTreeSet<_> = kinds.iter().copied().collect();
        let lists = kinds.iter().map(|kind| async move {
            let filter = kind.filter();
            reader.list(kind.list(), &filter, LONG_LIST_PAGES).await
        });
        let lists = join_all(lists).await;
        if let Some(Err(failure)) = lists.first()
            && lists.iter().all(Result::is_err)
        {
            return Err(failure.clone());
        }

        let (mut records, mut unread) = (BTreeMap::new(), Unread::default());
        for (kind, list) in kinds.into_iter().zip(lists) {
            if let Some(list) = unread.list(kind.list().name, list, LONG_LIST_PAGES) {
                records.insert(kind, list);
            }
        }
        add_tests_in_folders(reader, &mut records, &mut unread).await;

        // Pages shift while a list is read, so that a record can appear twice.
        let unique = records.into_iter().flat_map(|(kind, list)| {
            deduplicate(list, kind.id_field())
                .into_iter()
                .filter_map(move |record| ListedRecord::new(kind, &record))
        });
        Ok(Self { records: unique.collect(), unread })
    }

    fn find(&self, name: &str) -> NameResult {
        let asked = ComparedName::new(name);
        let mut records: Vec<_> = self.records.iter().filter_map(|record| record.find(&asked)).collect();
        if records.iter().any(FoundRecord::has_name) {
            records.retain(FoundRecord::has_name);
        }
        records.sort_by_cached_key(|record| {
            // Of the names that contain the name, the shortest comes nearest.
            let length = if record.has_name() { 0 } else { record.name.len() };
            (record.r#match, record.is_archived(), length, record.kind, record.id.clone())
        });

        let mut result = NameResult::new(name, records);
        if result.r#match > NameMatch::Case {
            result.more = result.records.len().checked_sub(MOST_NEAREST).filter(|more| *more > 0);
            result.records.truncate(MOST_NEAREST);
        }
        if let Some(reason) = self.unread.reason() {
            result.r#match = NameMatch::Incomplete;
            result.reason = Some(shorten_line(&reason, LONGEST_REASON));
            result.is_uncertain = self.unread.may_be_read_later;
        }
        result
    }
}

/// Adds the tests of every folder, if the list of tests shows only those of the root (service.md 6.1).
async fn add_tests_in_folders(
    reader: &Reader,
    records: &mut BTreeMap<RecordKind, Vec<Value>>,
    unread: &mut Unread,
) {
    let folders = records.get(&RecordKind::TestFolder).cloned();
    let Some(tests) = records.get_mut(&RecordKind::Test).filter(|tests| !shows_folders(tests)) else {
        return;
    };
    let (in_folders, missing) = reader.tests_in_folders(folders).await;

    tests.extend(in_folders);
    unread.extend(missing);
}

/// Searches for one name in the lists of some kinds.
///
/// # Errors
/// The failure of the first list, if no list could be read.
pub(crate) async fn find_name(
    reader: &Reader,
    kinds: &[RecordKind],
    name: &str,
) -> Result<NameResult, Failure> {
    Ok(Lists::read(reader, kinds).await?.find(name))
}

/// Searches for several names, and reads what a start of the found records needs.
///
/// # Errors
/// The failure of the first list, if no list could be read.
pub(super) async fn find_names(
    reader: &Reader,
    kinds: &[RecordKind],
    names: &[String],
) -> Result<NameSearchAnswer, Failure> {
    let lists = Lists::read(reader, if kinds.is_empty() { &RecordKind::NAMED } else { kinds }).await?;
    let mut results: Vec<_> = names.iter().map(|name| lists.find(name)).collect();
    let mut unread = lists.unread;
    add_details(reader, &mut results, &mut unread).await;

    let Unread { omissions: unread, may_be_read_later } = unread;
    let repeat = how_to_repeat(&unread).filter(|_| may_be_read_later);
    Ok(NameSearchAnswer { incomplete: (!unread.is_empty()).then_some(true), repeat, results, unread })
}

/// Adds the fields to the records that have one of the names. A field without a value is left out.
async fn add_details(reader: &Reader, results: &mut [NameResult], unread: &mut Unread) {
    let named = results.iter_mut().flat_map(|result| &mut result.records).filter(|record| record.has_name());
    let mut named: Vec<_> =
        named.filter_map(|record| detail_of(record.kind).map(|field| (field, record))).collect();
    if named.len() > MOST_DETAILED {
        let what = format!("players, slots and versions of {} more records", named.len() - MOST_DETAILED);
        unread.omit(what, &format!("a search reads those of {MOST_DETAILED} records"));
        named.truncate(MOST_DETAILED);
    }

    let values = join_all(named.iter().map(|(_, record)| read_detail(reader, record))).await;
    for ((field, record), value) in named.into_iter().zip(values) {
        match value {
            Ok(Some(value)) => drop(record.more.insert(field.to_owned(), value)),
            Ok(None) => {}
            Err(failure) => unread.add(&format!("{field} of {}", record.id), failure),
        }
    }
}

const fn detail_of(kind: RecordKind) -> Option<&'static str> {
    match kind {
        RecordKind::Test => Some("players"),
        RecordKind::TestPlan => Some("slots"),
        RecordKind::Build => Some("version"),
        _ => None,
    }
}

async fn read_detail(reader: &Reader, record: &FoundRecord) -> Result<Option<Value>, Failure> {
    let id = record.id.clone();
    Ok(match record.kind {
        RecordKind::Test => {
            let include_shared_collection_steps = Some(false);
            let test = GetTest { test_id: Id(id), version: None, include_shared_collection_steps };
            let players = players(&reader.read(&test).await?);
            (!players.is_empty()).then(|| json!(players))
        }
        RecordKind::TestPlan => {
            Some(json!(slots(&reader.read(&GetTestPlan { test_plan_id: Uuid(id) }).await?)))
        }
        _ => app_version(&reader.read(&GetBuild { build_id: Uuid(id) }).await?),
    })
}

/// Returns the names of the players of a test by their numbers.
pub(super) fn players(test: &TestCase) -> BTreeMap<usize, String> {
    let name = |key: &String| {
        let name = test.content.players_by_key.get(key).and_then(|player| player.name.as_ref());
        shorten_line(name.unwrap_or(key), LONGEST_NAME)
    };
    (1..).zip(test.content.player_order.iter().map(name)).collect()
}

/// Returns the names of the slots of a plan by their numbers.
pub(super) fn slots(plan: &TestPlan) -> BTreeMap<usize, String> {
    let name = |name: Option<&String>| shorten_line(name.map_or("unnamed", String::as_str), LONGEST_NAME);
    let others = plan.slots.iter().flatten().map(|slot| (slot.index, name(slot.name.as_ref())));
    [(1, name(plan.default_slot_name.as_ref()))].into_iter().chain(others).collect()
}

/// Returns the version of the app in a build.
pub(super) fn app_version(build: &BuildDetail) -> Option<Value> {
    let version = build.details.as_ref()?.get("app")?.get("version")?;
    (!version.is_null()).then(|| version.clone())
}
