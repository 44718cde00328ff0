//! `list_tests`: whether its answer may lack tests, and the tests of every folder in one list.

use serde_json::{Value, json};

use crate::{
    call::{
        Caller, CheckedArguments, CommonArguments, Reply, ToolArguments,
        paging::{LONG_LIST_PAGES, deduplicate},
    },
    failure::Failure,
    fields::Fields,
    service::{
        api::tests::{ALL_FOLDERS, ListTests, TestSummary},
        catalog::ListedOperation as _,
        lenient::view,
        operation::Operation as _,
        schema::RECORDS,
    },
    tools::{
        context::CallOptions,
        reader::{Reader, shows_folders},
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
pub(super) async fn list(
    caller: &Caller,
    arguments: ToolArguments,
    options: &CallOptions,
) -> Result<Reply, Failure> {
    let checked = caller.check(ListTests::entry(), arguments)?;
    let CheckedArguments { own, project_id, selection, .. } = checked;

    let (reply, statement) = if own.get(ALL_FOLDERS) == Some(&Value::Bool(true)) {
        let (reply, missing) = list_all_folders(caller, &own, project_id, options).await?;
        (reply, json!(missing))
    } else {
        list_as_answered(caller, own, project_id.as_deref()).await?
    };
    let statement = statement.as_object().cloned().unwrap_or_default();
    Ok(reply.with_fields(selection.as_ref()).with_statement(statement))
}

async fn list_as_answered(
    caller: &Caller,
    own: Fields,
    project: Option<&str>,
) -> Result<(Reply, Value), Failure> {
    let is_one_folder = own.contains_key("folder_path") || own.contains_key("folder_id");
    let arguments = ToolArguments::new(own, CommonArguments::in_project(project));
    let reply = caller.call(ListTests::entry(), arguments).await?;

    let tests = reply.value().get(RECORDS).and_then(Value::as_array);
    let may_lack_tests = !is_one_folder && !tests.is_some_and(|tests| shows_folders(tests));
    let statement = if may_lack_tests { json!({"warning": MAY_LACK_TESTS}) } else { Value::Null };

    Ok((reply, statement))
}

/// Reads the tests of every folder, or of one with the folders in it, and returns the page that the arguments select, sorted by
/// folder and name. Without a page size, one page has all tests.
async fn list_all_folders(
    caller: &Caller,
    own: &Fields,
    project: Option<String>,
    options: &CallOptions,
) -> Result<(Reply, Missing), Failure> {
    let reader = Reader::new(caller, project.as_deref());
    let (mut tests, unread) = reader.run(options, read_all_folders(&reader)).await?;
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

    Ok((reply, unread.into()))
}

/// Returns whether a test is in `folder` or in a folder in it. The empty path is the root.
fn is_in_folder(test: &Value, folder: &str) -> bool {
    let path = view::<TestSummary>(test).folder_path.unwrap_or_default();
    let below = path.trim_matches('/').strip_prefix(folder);
    below.is_some_and(|below| folder.is_empty() || below.is_empty() || below.starts_with('/'))
}

/// Returns the tests of every folder, each once, and what could not be read.
///
/// # Errors
/// The failure of the list without a folder.
async fn read_all_folders(reader: &Reader) -> Result<(Vec<Value>, Unread), Failure> {
    let list = reader.list(ListTests::entry(), &Fields::new(), LONG_LIST_PAGES).await?;
    let mut unread = Unread::default();
    let mut tests = unread.pages(ListTests::NAME, list, LONG_LIST_PAGES);

    if !shows_folders(&tests) {
        let (in_folders, not_read) = reader.tests_in_folders(None).await;
        tests.extend(in_folders);
        unread.extend(not_read);
    }

    let mut tests = deduplicate(tests, "id");
    tests.sort_by_cached_key(|test| {
        let TestSummary { folder_path, name, .. } = view(test);
        (folder_path, name.to_lowercase())
    });

    Ok((tests, unread))
}
