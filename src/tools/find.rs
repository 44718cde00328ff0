//! Records by their names, in the lists of the service. `find_by_name` is the tool.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    reader::{Reader, shows_folder},
    unread::{Missing, Unread},
};
use crate::{
    call::paging::{LONG_LIST_PAGES, deduplicate},
    failure::{Code, Failure},
    fields::{Fields, text_at},
    service::{
        api::{
            Id, Uuid,
            bugs::GetBug,
            builds::{BuildDetail, GetBuild},
            plans::{GetTestPlan, TestPlan},
            tests::{GetTest, TestCase},
        },
        lenient::view,
        record_kind::{RecordKind, ResultId},
    },
    text::composed,
};

/// Largest number of records that are shown for a name that none of them has.
const MOST_NEAREST: usize = 10;

/// Largest number of records of one call that are read for what a start needs.
const MOST_DETAILED: usize = 20;

/// Fields that tell records with the same name apart.
const DISTINGUISHING: &str = "folder_path type path platform kind providerType description severity status pinned \
                              file_name test_count steps_count created_at";

/// What was found for all names.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NameSearchAnswer {
    /// Lists, in which other records may have the names, or fields of records.
    #[serde(flatten)]
    pub missing: Missing,
    /// One result for each name, in the order of `names`.
    pub results: Vec<NameResult>,
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
    #[serde(skip)]
    pub(crate) unread: Unread,
}

/// How a name matches, the best first. White space makes no difference, nor how an accent is written.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[serde(rename_all = "lowercase")]
pub enum NameMatch {
    #[default]
    Exact,
    Case,
    Beginning,
    Part,
    None,
    Incomplete,
}

/// A record that was found.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
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
    /// The record itself, if it has been read.
    #[serde(skip)]
    pub(crate) whole: Option<Value>,
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

        // The list of devices has them whole.
        let whole = (kind == RecordKind::DeploymentConfig).then(|| record.clone());

        Some(Self { kind, id, name, more, whole, ..Self::default() })
    }

    /// Returns the record with this id, of which nothing else is known.
    pub(crate) fn with_id(kind: RecordKind, id: &str) -> Self {
        Self { kind, id: id.to_owned(), ..Self::default() }
    }

    /// Returns whether the record has the name that was searched for, and not only a part of it.
    pub fn has_name(&self) -> bool {
        self.r#match <= NameMatch::Case
    }

    /// Adds what a start needs. A test may have no players, and a build no version.
    fn add_detail(&mut self, record: &Value) {
        let (field, value) = match self.kind {
            RecordKind::Test => ("players", json!(view::<TestCase>(record).player_names())),
            RecordKind::TestPlan => ("slots", json!(view::<TestPlan>(record).slot_names())),
            _ => ("version", json!(view::<BuildDetail>(record).app_version())),
        };
        if !value.is_null() && value != json!({}) {
            self.more.insert(field.to_owned(), value);
        }
    }

    /// Returns how well the record matches. A bug that nobody works on any more comes after those in use.
    fn rank(&self) -> (NameMatch, bool) {
        let status = self.more.get("status").and_then(Value::as_str);
        let is_archived = status.is_some_and(|status| status.eq_ignore_ascii_case("archived"));
        (self.r#match, is_archived && self.kind == RecordKind::Bug)
    }
}

impl NameResult {
    /// Returns the result of a search that read everything. Of equal matches, the first one is first.
    pub fn new(name: &str, mut records: Vec<FoundRecord>) -> Self {
        records.sort_by_key(FoundRecord::rank);
        let r#match = records.first().map_or(NameMatch::None, |record| record.r#match);
        Self { name: name.to_owned(), r#match, records, more: None, unread: Unread::default() }
    }

    /// Takes the record that is meant out of the result, which keeps the others. One with the same letters is meant before one
    /// in other letter case, and a bug in use before archived ones. `nouns` are the kinds of records that were searched.
    ///
    /// # Errors
    /// `not_found` and `invalid_arguments` with the records, if none or several have the name, or may have it.
    pub fn take_single(mut self, nouns: &str) -> Result<(FoundRecord, Self), Failure> {
        let mut ranks = self.records.iter().filter(|record| record.has_name()).map(FoundRecord::rank);
        let best = ranks.next();
        // A record that the key may not read cannot be meant.
        let is_uncertain = self.unread.may_be_read_later || self.unread.is_cut;
        if best.is_some() && best != ranks.next() && !is_uncertain {
            return Ok((self.records.remove(0), self));
        }

        let (code, message) = match self.records.iter().filter(|record| record.has_name()).count() {
            0 => (Code::NotFound, format!("no {nouns} has the name `{}`", self.name)),
            1 => (Code::InvalidArguments, format!("other records may be named `{}`", self.name)),
            several => (Code::InvalidArguments, format!("`{}` names {several} records", self.name)),
        };
        let reason =
            self.unread.reason().map(|reason| format!(", and not every list could be read: {reason}"));
        let failure = Failure::new(code, message + &reason.unwrap_or_default());
        Err(failure
            .hint(
                "check the project, and pass the id of a record[[; `tool:find_by_name` searches all names]]",
            )
            .detail("records", json!(self.records)))
    }
}

/// A name with composed characters (NFC) and one space between its words.
#[derive(Debug)]
struct ComparedName {
    name: String,
    in_lower_case: String,
}

impl ComparedName {
    fn new(name: &str) -> Self {
        let name = composed(name).split_whitespace().collect::<Vec<_>>().join(" ");
        Self { in_lower_case: name.to_lowercase(), name }
    }

    /// Returns how this name matches the whole name `own` of a record; `None` if it does not.
    fn compare(&self, own: &Self) -> Option<NameMatch> {
        if self.name.is_empty() {
            None
        } else if self.name == own.name {
            Some(NameMatch::Exact)
        } else if self.in_lower_case == own.in_lower_case {
            Some(NameMatch::Case)
        } else if own.in_lower_case.starts_with(&self.in_lower_case) {
            Some(NameMatch::Beginning)
        } else {
            own.in_lower_case.contains(&self.in_lower_case).then_some(NameMatch::Part)
        }
    }
}

/// The records of the lists of some kinds, with their names.
pub(crate) struct Lists {
    records: Vec<(FoundRecord, Vec<ComparedName>)>,
    unread: Unread,
}

impl Lists {
    /// Reads the lists concurrently. Fails as the first list does, if none could be read.
    pub(crate) async fn read(reader: &Reader, kinds: &[RecordKind]) -> Result<Self, Failure> {
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

        let mut unread = Unread::default();
        let read = kinds
            .into_iter()
            .zip(lists)
            .filter_map(|(kind, list)| Some((kind, unread.list(kind.list().name, list, LONG_LIST_PAGES)?)));
        let mut lists: BTreeMap<_, _> = read.collect();
        // The list of tests may show only those of the root (service.md 6.1).
        if lists.get(&RecordKind::Test).is_some_and(|tests| !tests.iter().any(shows_folder)) {
            let folders = lists.get(&RecordKind::TestFolder).cloned();
            let (tests, missing) = reader.tests_in_folders(folders).await;
            lists.entry(RecordKind::Test).or_default().extend(tests);
            unread.extend(missing);
        }

        let mut records = Vec::new();
        for (kind, list) in lists {
            // Pages shift while a list is read, so that a record can appear twice.
            for record in deduplicate(list, kind.id_field()) {
                let names = kind.names(&record).into_iter().map(ComparedName::new).collect();
                records.extend(FoundRecord::from_record(kind, &record).map(|found| (found, names)));
            }
        }
        Ok(Self { records, unread })
    }

    pub(crate) fn find(&self, name: &str) -> NameResult {
        let asked = ComparedName::new(name);
        let found = self.records.iter().filter_map(|(record, names)| {
            let by_id = record.id.eq_ignore_ascii_case(&asked.name).then_some(NameMatch::Exact);
            let r#match = names.iter().filter_map(|own| asked.compare(own)).chain(by_id).min()?;
            Some(FoundRecord { r#match, ..record.clone() })
        });
        let mut records: Vec<_> = found.collect();
        if records.iter().any(FoundRecord::has_name) {
            records.retain(FoundRecord::has_name);
        }
        // Of the names that contain the name, the shortest comes nearest.
        let length = |record: &FoundRecord| if record.has_name() { 0 } else { record.name.len() };
        records.sort_by_cached_key(|record| (length(record), record.kind, record.id.clone()));

        let mut result = NameResult { unread: self.unread.clone(), ..NameResult::new(name, records) };
        if result.r#match > NameMatch::Case {
            result.more = result.records.len().checked_sub(MOST_NEAREST).filter(|more| *more > 0);
            result.records.truncate(MOST_NEAREST);
        }
        if !self.unread.is_empty() {
            result.r#match = NameMatch::Incomplete;
        }
        result
    }
}

/// Searches for several names, and reads what a start of the found records needs. Fails if no list could be read.
pub(super) async fn find_names(
    reader: &Reader,
    kinds: &[RecordKind],
    names: &[String],
) -> Result<NameSearchAnswer, Failure> {
    let lists = Lists::read(reader, if kinds.is_empty() { &RecordKind::NAMED } else { kinds }).await?;
    let mut results: Vec<_> = names.iter().map(|name| lists.find(name)).collect();
    let mut unread = lists.unread;

    let found = results.iter_mut().flat_map(|result| &mut result.records).filter(|record| record.has_name());
    let is_started = |kind| matches!(kind, RecordKind::Test | RecordKind::TestPlan | RecordKind::Build);
    let mut started: Vec<_> = found.filter(|record| is_started(record.kind)).collect();
    if started.len() > MOST_DETAILED {
        let further = format!("details of {} more records", started.len() - MOST_DETAILED);
        unread.cut(&further, &format!("a search reads those of {MOST_DETAILED} records"));
        started.truncate(MOST_DETAILED);
    }
    let details = join_all(started.iter().map(|record| read_record(reader, record))).await;
    for (record, detail) in started.into_iter().zip(details) {
        match detail {
            Ok(detail) => record.add_detail(&detail),
            Err(failure) => unread.add("details of", &record.id, &failure),
        }
    }

    Ok(NameSearchAnswer { missing: unread.into(), results })
}

/// Reads a record whole.
pub(super) async fn read_record(reader: &Reader, record: &FoundRecord) -> Result<Value, Failure> {
    if let Some(whole) = &record.whole {
        return Ok(whole.clone());
    }

    let id = record.id.clone();
    match record.kind {
        RecordKind::Result(kind) => {
            Ok(reader.read_result(ResultId::new(kind, id).without_player()).await?.record)
        }
        RecordKind::Test => reader.read_value(&GetTest::newest(id)).await,
        RecordKind::TestPlan => reader.read_value(&GetTestPlan { test_plan_id: Uuid(id) }).await,
        RecordKind::Build => reader.read_value(&GetBuild { build_id: Uuid(id) }).await,
        RecordKind::Bug => reader.read_value(&GetBug { bug_id: Id(id) }).await,
        _ => Err(Failure::new(Code::NotFound, format!("no request reads the record {id}"))),
    }
}
