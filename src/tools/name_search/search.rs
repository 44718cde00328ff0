//! The search.

use futures_util::future::join_all;

use super::{answer::NameSearchAnswer, folder_tests, list_reader::ListReader, record_kind::RecordKind};
use crate::{
    call::paging::Omission,
    failure::Failure,
    tools::{caller::CallerContext, project_client::ProjectClient, time_limit::run_with_limit},
};

/// A search for records by their names.
#[derive(Clone, Debug)]
pub struct NameSearch {
    /// The names or ids to search for.
    pub names: Vec<String>,
    /// The kinds of records to search; all kinds if empty.
    pub kinds: Vec<RecordKind>,
}

impl NameSearch {
    /// Reads the lists and returns the records with the names, or else the nearest ones. Dropping the future ends the
    /// reading.
    ///
    /// # Errors
    /// The failure of the first list, if no list could be read.
    pub(in crate::tools) async fn run(
        self,
        client: ProjectClient,
        caller: &CallerContext,
    ) -> Result<NameSearchAnswer, Failure> {
        let mut kinds = if self.kinds.is_empty() { RecordKind::ALL.to_vec() } else { self.kinds };
        kinds.sort_unstable();
        kinds.dedup();

        let clock = client.gateway.clock().clone();
        let reader = ListReader::new(client, self.names);
        run_with_limit(&reader, &*clock, caller, read_lists(&reader, &kinds)).await?;

        let state = reader.into_state();

        Ok(NameSearchAnswer { results: state.matches.into_results(), unread: state.unread })
    }
}

/// Reads the lists of these kinds concurrently.
///
/// # Errors
/// The failure of the first list, if no list could be read.
async fn read_lists(reader: &ListReader, kinds: &[RecordKind]) -> Result<(), Failure> {
    let outcomes = join_all(kinds.iter().map(|kind| reader.read_list(*kind))).await;
    let (mut failed, mut has_read) = (Vec::new(), false);
    for (kind, outcome) in kinds.iter().zip(outcomes) {
        match outcome {
            Ok(()) => has_read = true,
            Err(failure) => failed.push((*kind, failure)),
        }
    }

    // A result that is certain needs no further list.
    if reader.state().matches.is_certain() {
        return Ok(());
    }
    if !has_read && !failed.is_empty() {
        return Err(failed.swap_remove(0).1);
    }

    let is_failed = |kind| failed.iter().any(|(other, _)| *other == kind);
    if kinds.contains(&RecordKind::Test) && !is_failed(RecordKind::Test) {
        let has_folders = kinds.contains(&RecordKind::TestFolder) && !is_failed(RecordKind::TestFolder);
        folder_tests::read_if_needed(reader, has_folders).await;
    }

    let omission = |(kind, failure): (RecordKind, Failure)| {
        let what = (kind.list().operation)().name.to_owned();
        Omission { what, why: failure.message }
    };
    reader.state().unread.extend(failed.into_iter().map(omission));

    Ok(())
}
