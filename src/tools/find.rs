//! Records by their names, in the lists of the service, and results by their ids. `find_by_name` is the tool.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::reader::{Reader, Unread, shows_folders};
use crate::{
    call::paging::{LONG_LIST_PAGES, Omission, deduplicate, how_to_repeat},
    failure::{Code, Failure},
    fields::{Fields, text_at},
    service::{
        api::{Id, Uuid, builds::GetBuild, plans::GetTestPlan, tests::GetTest},
        arguments::is_uuid,
        record_kind::{RecordKind, ResultId, ResultKind},
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
    /// Whether records may be missing that the key may read.
    #[serde(skip)]
    pub is_uncertain: bool,
}

/// How a name matches, the best first. White space makes no difference, nor how an accent is written.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[serde(rename_all = "lowercase")]
pub enum NameMatch {
    Exact,
    Case,
    Beginning,
    Part,
    None,
    Incomplete,
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

    /// Takes the record that is meant out of the result, which keeps the others. One with the same letters is meant before one
    /// in other letter case, and a bug in use before archived ones.
    ///
    /// # Errors
    /// The result itself, if no record or several have the name, or may have it.
    pub fn take_single(mut self) -> Result<(FoundRecord, Self), Self> {
        let best = self.records.iter().map(|record| record.r#match).min();
        let is_meant = |record: &FoundRecord| record.has_name() && Some(record.r#match) == best;
        let numbered = self.records.iter().enumerate().filter(|(_, record)| is_meant(record));
        let mut meant: Vec<_> = numbered.map(|(place, record)| (place, record.is_archived())).collect();
        if meant.len() > 1 {
            meant.retain(|(_, is_archived)| !is_archived);
        }

        match *meant {
            [(place, _)] if !self.is_uncertain => Ok((self.records.remove(place), self)),
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
    /// Reads the lists concurrently. Fails as the first list does, if none could be read.
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
        // The list of tests may show only those of the root (service.md 6.1).
        if records.get(&RecordKind::Test).is_some_and(|tests| !shows_folders(tests)) {
            let folders = records.get(&RecordKind::TestFolder).cloned();
            let (tests, missing) = reader.tests_in_folders(folders).await;
            records.entry(RecordKind::Test).or_default().extend(tests);
            unread.extend(missing);
        }

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
        result.reason = self.unread.reason();
        if result.reason.is_some() {
            result.r#match = NameMatch::Incomplete;
            result.is_uncertain = self.unread.may_be_read_later || self.unread.is_cut;
        }
        result
    }
}

/// Searches for one name in the lists of some kinds. Fails if no list could be read.
pub(crate) async fn find_name(
    reader: &Reader,
    kinds: &[RecordKind],
    name: &str,
) -> Result<NameResult, Failure> {
    Ok(Lists::read(reader, kinds).await?.find(name))
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
    add_details(reader, &mut results, &mut unread).await;

    let Unread { omissions: unread, may_be_read_later, .. } = unread;
    let repeat = how_to_repeat(&unread).filter(|_| may_be_read_later);
    Ok(NameSearchAnswer { incomplete: (!unread.is_empty()).then_some(true), repeat, results, unread })
}

async fn add_details(reader: &Reader, results: &mut [NameResult], unread: &mut Unread) {
    let has_detail = |record: &&mut FoundRecord| {
        record.has_name()
            && matches!(record.kind, RecordKind::Test | RecordKind::TestPlan | RecordKind::Build)
    };
    let records = results.iter_mut().flat_map(|result| &mut result.records);
    let mut records: Vec<_> = records.filter(has_detail).collect();
    if records.len() > MOST_DETAILED {
        let what = format!("players, slots and versions of {} more records", records.len() - MOST_DETAILED);
        unread.omit(what, &format!("a search reads those of {MOST_DETAILED} records"));
        records.truncate(MOST_DETAILED);
    }

    let details = join_all(records.iter().map(|record| read_detail(reader, record))).await;
    for (record, (field, value)) in records.into_iter().zip(details) {
        match value {
            // A test may have no players, and a build no version.
            Ok(value) if value.is_null() || value == json!({}) => {}
            Ok(value) => drop(record.more.insert(field.to_owned(), value)),
            Err(failure) => unread.add(&format!("{field} of {}", record.id), &failure),
        }
    }
}

async fn read_detail(reader: &Reader, record: &FoundRecord) -> (&'static str, Result<Value, Failure>) {
    let (id, include_shared_collection_steps) = (record.id.clone(), Some(false));
    match record.kind {
        RecordKind::Test => {
            let test = GetTest { test_id: Id(id), version: None, include_shared_collection_steps };
            ("players", reader.read(&test).await.map(|test| json!(test.player_names())))
        }
        RecordKind::TestPlan => {
            let plan = reader.read(&GetTestPlan { test_plan_id: Uuid(id) }).await;
            ("slots", plan.map(|plan| json!(plan.slot_names())))
        }
        _ => {
            let build = reader.read(&GetBuild { build_id: Uuid(id) }).await;
            ("version", build.map(|build| json!(build.app_version())))
        }
    }
}

/// The record of a run, a job or an execution, as the service returned it.
#[derive(Clone, Debug)]
pub struct FoundResult {
    /// The id of the record.
    pub id: ResultId,
    /// The record.
    pub record: Value,
}

impl FoundResult {
    /// Finds the record with the id `id`, whatever its kind.
    ///
    /// # Errors
    /// `not_found` if no record has the id, or the failure of a look-up.
    pub(crate) async fn find(reader: &Reader, id: &str) -> Result<Self, Failure> {
        let mut refusals = Vec::new();
        // The ids of runs are no UUIDs (service.md 1.7), but a service may have others.
        let kinds = [ResultKind::Run, ResultKind::Execution, ResultKind::Job];
        for kind in kinds.into_iter().cycle().skip(usize::from(is_uuid(id))).take(kinds.len()) {
            match Self::read(reader, ResultId::new(kind, id)).await {
                Err(failure) if is_unknown_id(&failure) => refusals.push(failure),
                read => return read,
            }
        }

        // The refusal that explains most: the projects that were searched, or why the id is invalid for every kind.
        let message = format!("no run, job or plan execution has the id `{id}`");
        let all_invalid = refusals.iter().all(|refusal| refusal.code == Code::InvalidArguments);
        let explains = |refusal: &Failure| all_invalid || refusal.code == Code::ProjectNotResolved;
        Err(match refusals.into_iter().find(explains) {
            Some(refusal) => Failure { message: format!("{message}: {refusal}"), ..refusal },
            None => Failure::new(Code::NotFound, message).hint("`tool:list_runs` lists runs"),
        })
    }

    pub(crate) async fn read(reader: &Reader, id: ResultId) -> Result<Self, Failure> {
        let record = reader.read_result(&id).await?;
        Ok(Self { id, record })
    }

    /// Returns the id of the job that the record belongs to.
    pub fn job_id(&self) -> Option<String> {
        let id = text_at(&self.record, "job_id").filter(|_| self.id.kind != ResultKind::Execution);
        id.map(str::to_owned)
    }
}

/// Returns whether a failed look-up means that no record of this kind has the id. Ids of runs have another form than the
/// other ids, so that the arguments may be invalid.
pub(crate) fn is_unknown_id(failure: &Failure) -> bool {
    matches!(failure.code, Code::NotFound | Code::ProjectNotResolved | Code::InvalidArguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_matches_exactly_in_other_case_at_the_beginning_or_in_part() {
        for (asked, own, expected) in [
            ("Login", "Login", Some(NameMatch::Exact)),
            (" Pause  and resume", "Pause and resume ", Some(NameMatch::Exact)),
            ("Cafe\u{301}", "Caf\u{e9}", Some(NameMatch::Exact)),
            ("CAF\u{c9}", "cafe\u{301}", Some(NameMatch::Case)),
            ("login", "LOGIN", Some(NameMatch::Case)),
            ("log", "Login", Some(NameMatch::Beginning)),
            ("1.4.2", "Arena 1.4.2 (android)", Some(NameMatch::Part)),
            ("Log in", "Login", None),
            ("the Smoke plan", "Smoke", None),
            (" ", "Smoke", None),
        ] {
            let found = ComparedName::new(asked).compare(&ComparedName::new(own));
            assert_eq!(found, expected, "{asked:?} {own:?}");
        }
    }
}
