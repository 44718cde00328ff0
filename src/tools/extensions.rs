//! What calls of some operations do beyond their request: the tests of every folder, and when each was last run; the newest
//! occurrence of each bug; the files of the only player of a run, and links to them.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use futures_util::{StreamExt as _, future::join_all, stream};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    call::{
        Artifact, Caller, CheckedArguments, CommonArguments, Reply, ToolArguments,
        paging::{LONG_LIST_PAGES, MAX_CONCURRENT_REQUESTS, deduplicate},
        reply::FileLink,
    },
    failure::{Failure, Violation},
    fields::{Fields, text_at},
    service::{
        api::{
            Id,
            bugs::{BugDetail, GetBug, ListBugs},
            files::{ListRunArtifacts, RunArtifact},
            runs::{GetRun, ListRuns},
            tests::{ALL_FOLDERS, ListTests, TestSummary},
        },
        catalog::{ListedOperation as _, OperationEntry},
        lenient::view,
        operation::Operation as _,
        schema::RECORDS,
        tool::{LAST_RUN_AT, NEWEST_OCCURRENCE},
    },
    text::filled,
    tools::{
        context::CallOptions,
        describe::occurrence,
        download::split_player_id,
        newest::newest_first,
        reader::{Reader, shows_folder},
        unread::{Missing, Unread},
    },
};

/// Warning of a list without a folder that shows tests of the root alone.
const MAY_LACK_TESTS: &str =
    "the service may list only the tests of the root; `all_folders: true` reads every folder";

/// Lists saved tests: the answer of the service, or the tests of every folder.
///
/// # Errors
/// Every failure of the operation. What is missing in the tests of every folder is named in the reply.
pub(super) async fn list_tests(
    caller: &Caller,
    arguments: ToolArguments,
    options: &CallOptions,
) -> Result<Reply, Failure> {
    let checked = caller.check(ListTests::entry(), arguments)?;
    let CheckedArguments { own, project_id, selection, .. } = checked;
    let is_every_folder = own.get(ALL_FOLDERS) == Some(&Value::Bool(true));
    let is_one_folder = ["folder_path", "folder_id"].iter().any(|name| own.contains_key(*name));

    let reader = Reader::new(caller, project_id.as_deref());
    let mut unread = Unread::default();
    let reading = async {
        let mut tests = if is_every_folder {
            list_all_folders(&reader, &own, &mut unread).await?
        } else {
            let arguments = ToolArguments::new(own, CommonArguments::in_project(project_id.as_deref()));
            caller.call(ListTests::entry(), arguments).await?
        };
        if selection.as_ref().is_some_and(|selection| selection.names(LAST_RUN_AT)) {
            add_last_runs(&reader, &mut tests, &mut unread).await;
        }
        Ok(tests)
    };
    let mut tests = reader.run(options, reading).await?;

    let mut statement = statement_of(unread);
    if !is_every_folder && !is_one_folder && !tests.records_mut().any(|test| shows_folder(test)) {
        statement.insert("warning".to_owned(), MAY_LACK_TESTS.into());
    }
    Ok(tests.with_fields(selection.as_ref()).with_statement(statement))
}

fn statement_of(unread: Unread) -> Fields {
    json!(Missing::from(unread)).as_object().cloned().unwrap_or_default()
}

/// Reads the tests of every folder, or of one with the folders in it, and returns the page that the arguments select, sorted by
/// folder and name. Without a page size, one page has all tests.
async fn list_all_folders(reader: &Reader, own: &Fields, unread: &mut Unread) -> Result<Reply, Failure> {
    let mut tests = read_all_folders(reader, unread).await?;
    if let Some(folder) = own.get("folder_path").and_then(Value::as_str) {
        tests.retain(|test| is_in_folder(test, folder.trim_matches('/')));
    }

    let number =
        |name: &str| own.get(name).and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok());
    let size = number("page_size").unwrap_or(tests.len()).max(1);
    let page = number("page").unwrap_or_default();
    let pagination = json!({
        "page": page, "page_size": size, "total_count": tests.len(), "total_pages": tests.len().div_ceil(size),
    });
    let data: Vec<_> = tests.into_iter().skip(page.saturating_mul(size)).take(size).collect();

    let mut reply = Reply::from_value(json!({RECORDS: data, "pagination": pagination}));
    reply.add_next_page();

    Ok(reply)
}

/// Returns whether a test is in `folder` or in a folder in it. The empty path is the root.
fn is_in_folder(test: &Value, folder: &str) -> bool {
    let path = view::<TestSummary>(test).folder_path.unwrap_or_default();
    let below = path.trim_matches('/').strip_prefix(folder);
    below.is_some_and(|below| folder.is_empty() || below.is_empty() || below.starts_with('/'))
}

/// Returns the tests of every folder, each once.
///
/// # Errors
/// The list without a folder cannot be read.
async fn read_all_folders(reader: &Reader, unread: &mut Unread) -> Result<Vec<Value>, Failure> {
    let list = reader.list(ListTests::entry(), &Fields::new(), LONG_LIST_PAGES).await?;
    let mut tests = unread.pages(ListTests::NAME, list, LONG_LIST_PAGES);

    if !tests.iter().any(shows_folder) {
        let (in_folders, not_read) = reader.tests_in_folders(None).await;
        tests.extend(in_folders);
        unread.extend(not_read);
    }

    let mut tests = deduplicate(tests, "id");
    tests.sort_by_cached_key(|test| {
        let TestSummary { folder_path, name, .. } = view(test);
        (folder_path, name.to_lowercase())
    });

    Ok(tests)
}

/// Adds to each test the time of its newest run, or null if it has none.
async fn add_last_runs(reader: &Reader, tests: &mut Reply, unread: &mut Unread) {
    let list = ListRuns::entry();
    let runs = reader.list(list, &Fields::new(), LONG_LIST_PAGES).await;
    let Some(runs) = unread.list("last runs", runs, LONG_LIST_PAGES) else { return };

    let mut times = BTreeMap::new();
    for run in &newest_first(list, runs) {
        if let (Some(test), Some(time)) = (text_at(run, "test.id"), run.get("created_at")) {
            times.entry(test.to_owned()).or_insert_with(|| time.clone());
        }
    }
    for test in tests.records_mut().filter_map(Value::as_object_mut) {
        let id = test.get("id").and_then(Value::as_str);
        let time = id.and_then(|id| times.get(id)).cloned().unwrap_or_default();
        test.insert(LAST_RUN_AT.to_owned(), time);
    }
}

/// Lists reviewed bugs. If the caller names the field, each bug has its newest occurrence, which only the single record has.
///
/// # Errors
/// Every failure of the operation. A bug that cannot be read is named in the reply.
pub(super) async fn list_bugs(
    caller: &Caller,
    arguments: ToolArguments,
    options: &CallOptions,
) -> Result<Reply, Failure> {
    let checked = caller.check(ListBugs::entry(), arguments)?;
    let CheckedArguments { own, project_id, selection, .. } = checked;
    let arguments = ToolArguments::new(own, CommonArguments::in_project(project_id.as_deref()));
    let mut reply = caller.call(ListBugs::entry(), arguments).await?;

    let mut unread = Unread::default();
    if selection.as_ref().is_some_and(|selection| selection.names(NEWEST_OCCURRENCE)) {
        let reader = Reader::new(caller, reply.project().or(project_id.as_deref()));
        reader.run(options, add_occurrences(&reader, &mut reply, &mut unread)).await;
    }

    Ok(reply.with_fields(selection.as_ref()).with_statement(statement_of(unread)))
}

async fn add_occurrences(reader: &Reader, bugs: &mut Reply, unread: &mut Unread) {
    let mut bugs: Vec<_> = bugs.records_mut().filter_map(Value::as_object_mut).collect();
    // The largest page. A service may answer with more.
    if !bugs.split_off(bugs.len().min(100)).is_empty() {
        unread.cut("occurrences of the bugs after the first 100", "there are too many bugs");
    }
    let read = |id: String| async move { (reader.read(&GetBug { bug_id: Id(id.clone()) }).await, id) };
    let ids = bugs.iter().map(|bug| bug.get("id").and_then(Value::as_str).unwrap_or_default().to_owned());
    let details = join_all(ids.map(read)).await;

    for (bug, (detail, id)) in bugs.iter_mut().zip(details) {
        match detail {
            Ok(BugDetail { occurrences, .. }) => {
                let newest = occurrences.iter().max_by_key(|one| one.detected_at.parse::<Timestamp>().ok());
                let newest = newest.map(|one| occurrence(one, None)).unwrap_or_default();
                bug.insert(NEWEST_OCCURRENCE.to_owned(), newest);
            }
            Err(failure) => unread.add("occurrences of bug", id, &failure),
        }
    }
}

/// Largest number of files whose addresses are requested. The largest files are those on the storage host.
const MAX_FILES: usize = 10;

/// Time limit of all requests together. The list is returned without the links that are not known by then.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Lists the files of a player, or reads one. The id of a run stands for its only player.
///
/// A host that fetches files itself gets links to the largest ones of a list: the listed addresses need the API key, but for
/// files on the storage host the service redirects to addresses that need none.
pub(super) async fn read_files(
    caller: &Caller,
    entry: &'static OperationEntry,
    mut arguments: ToolArguments,
    options: &CallOptions,
) -> Result<Reply, Failure> {
    let player = name_player(caller, entry, &mut arguments).await?;
    let mut reply = caller.call(entry, arguments).await?;
    if !options.gets_links || entry.name != ListRunArtifacts::NAME {
        return Ok(reply);
    }

    let project = reply.project();
    let mut files = reply.view::<ListRunArtifacts>().artifacts;
    files.retain(|file| !file.filename.is_empty());
    files.sort_by_key(|file| Reverse(file.size));
    files.truncate(MAX_FILES);

    let links = stream::iter(files)
        .map(|file| find_link(caller, project, &player, file))
        .buffered(MAX_CONCURRENT_REQUESTS)
        .take_until(tokio::time::sleep(TIME_LIMIT));
    let links: Vec<_> = links.collect().await;

    reply.add_links(links.into_iter().flatten().collect());
    Ok(reply)
}

/// Returns the id of the player in the arguments, in which it takes the place of the id of a run.
///
/// # Errors
/// The violations of the arguments, the failure of reading the run, and `invalid_arguments` if the run has several players.
async fn name_player(
    caller: &Caller,
    entry: &'static OperationEntry,
    arguments: &mut ToolArguments,
) -> Result<String, Failure> {
    let CheckedArguments { own, project_id: project, .. } = caller.check(entry, arguments.clone())?;
    let id = own.get("run_id").and_then(Value::as_str).unwrap_or_default();
    if split_player_id(id).1.is_some_and(|player| player > 0) {
        return Ok(id.to_owned());
    }

    let run = Reader::new(caller, project.as_deref()).read(&GetRun { run_id: Id(id.to_owned()) }).await?;
    let players: Vec<_> = run.players.iter().filter_map(|player| filled(&player.player.id)).collect();
    let [player] = &players[..] else {
        let named = filled(&players.join(", ")).unwrap_or_else(|| "none".to_owned());
        let rule = format!("must be the id of a player: the run has {named}");
        return Err(Failure::invalid_arguments(entry.name, &[Violation::new("run_id", rule)]));
    };
    arguments.own.insert("run_id".to_owned(), player.as_str().into());

    Ok(player.clone())
}

async fn find_link(
    caller: &Caller,
    project: Option<&str>,
    player: &str,
    file: RunArtifact,
) -> Option<FileLink> {
    let artifact = Artifact {
        project: project.map(str::to_owned),
        run_id: player.to_owned(),
        filename: file.filename.clone(),
        url: Some(file.url).filter(|url| !url.is_empty()),
    };
    let address = caller.presigned_address(&artifact).await?;
    let size = Some(file.size).filter(|size| *size > 0);

    Some(FileLink { address, name: file.filename, size, media_type: None })
}
