//! The tests of every folder, for a service whose list of tests shows only those of the root (supplement 6.1).

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use super::{list_reader::ListReader, record_kind::RecordKind};
use crate::{
    call::paging::{MAX_CONCURRENT_REQUESTS, Omission},
    fields::Fields,
};

/// Largest number of folders whose tests are read.
const MAX_FOLDERS: usize = 500;

/// Reads the tests of every folder if the list of tests shows no test of a folder. `has_folders` is whether the folders
/// have been read.
pub(super) async fn read_if_needed(reader: &ListReader, has_folders: bool) {
    if reader.is_stopped() || reader.state().folders.has_test_in_folder {
        return;
    }

    let read = if has_folders { Ok(()) } else { reader.read_list(RecordKind::TestFolder).await };
    if let Err(failure) = read {
        reader.state().unread.push(Omission { what: "tests in folders".to_owned(), why: failure.message });
        return;
    }

    read_folders(reader).await;
}

async fn read_folders(reader: &ListReader) {
    let mut folders = std::mem::take(&mut reader.state().folders.ids);
    if folders.len() > MAX_FOLDERS {
        let what = format!("tests in {} of {} folders", folders.len() - MAX_FOLDERS, folders.len());
        reader.state().unread.push(Omission { what, why: "there are too many folders".to_owned() });
        folders.truncate(MAX_FOLDERS);
    }

    stream::iter(folders)
        .for_each_concurrent(MAX_CONCURRENT_REQUESTS, |folder| async move {
            let filter = Fields::from_iter([("folder_id".to_owned(), Value::from(folder.as_str()))]);
            let what = format!("tests in the folder {folder}");
            let read = reader.read_pages(RecordKind::Test, RecordKind::Test.list(), &filter, &what).await;

            if let Err(failure) = read
                && !reader.state().matches.is_certain()
            {
                reader.state().unread.push(Omission { what, why: failure.message });
            }
        })
        .await;
}
