//! Jobs that a start named and that the list of their execution does not show: nobody else would look at them.

use super::{Item, jobs::Jobs};
use crate::{call::paging::Omission, failure::Failure, tools::project_client::ProjectClient};

/// Jobs that were named, and what was seen of those that no list shows.
#[derive(Debug)]
pub(super) struct Named {
    /// As the start named them.
    ids: Vec<String>,
    /// Those that the list does not show.
    hidden: Jobs,
    /// Those that cannot be read, and why.
    lost: Vec<(String, Failure)>,
}

impl Named {
    pub(super) fn new(ids: Vec<String>) -> Self {
        Self { hidden: Jobs::new(ids.clone()), ids, lost: Vec::new() }
    }

    /// Leaves the jobs to the list that it shows.
    pub(super) fn leave(&mut self, shown: &[Item]) {
        let is_known = |id: &str| {
            let shown = shown.iter().filter_map(|item| item.job_id.as_deref());
            shown
                .chain(self.lost.iter().map(|(id, _)| id.as_str()))
                .any(|known| known.eq_ignore_ascii_case(id))
        };

        let hidden = self.ids.iter().filter(|id| !is_known(id)).cloned().collect();
        self.hidden.replace(hidden);
    }

    /// Looks at every other job that is not over. One that cannot be read is lost, and not looked at again.
    pub(super) async fn look(&mut self, counter: &ProjectClient) -> Result<(), Failure> {
        let failed = self.hidden.read_each(counter).await;
        let (passing, lost): (Vec<_>, Vec<_>) =
            failed.into_iter().partition(|(_, failure)| failure.is_transient());
        self.hidden.leave_out(&lost);
        self.lost.extend(lost);
        passing.into_iter().next().map_or(Ok(()), |(_, failure)| Err(failure))
    }

    pub(super) fn items(&self) -> Vec<Item> {
        self.hidden.items()
    }

    pub(super) fn unread(&self) -> Vec<Omission> {
        let unread = |(id, failure): &(String, Failure)| Omission {
            what: format!("job {id}"),
            why: failure.message.clone(),
        };
        self.lost.iter().map(unread).collect()
    }
}
