//! Typed calls of operations for one project.

use serde_json::{Value, json};

use crate::{
    call::{
        Caller, RequestPreview,
        arguments::{AGREEMENT, CommonArguments, ToolArguments},
        paging::{self, ListRecords, MAX_PAGES, Page, page_arguments},
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{Uuid, builds::GetBuild},
        catalog::{ListedOperation, OperationEntry},
        lenient::{View, view},
        record_kind::ResultId,
    },
    text::{filled, shorten_line},
    tools::names::LONGEST_BUILD,
};

/// Calls operations for one project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectClient {
    pub(crate) caller: Caller,
    /// The project; `None` if the settings or the key decide it.
    pub(crate) project: Option<String>,
}

impl ProjectClient {
    /// Calls `operation`. A confirmation that the operation needs counts as given.
    pub(crate) async fn call<O: ListedOperation>(&self, operation: &O) -> Result<Reply, Failure> {
        self.send(O::entry(), arguments_of(operation)?).await
    }

    /// Returns the request of `operation`, which is not sent.
    pub(super) async fn preview<O: ListedOperation>(&self, operation: &O) -> Result<RequestPreview, Failure> {
        let arguments = ToolArguments::new(arguments_of(operation)?, self.common_arguments());
        self.caller.preview(O::entry(), arguments).await
    }

    /// Reads the record of a run, a job or an execution.
    pub(super) async fn read_result(&self, id: &ResultId) -> Result<Reply, Failure> {
        self.send(id.kind.entry(), id.to_arguments()).await
    }

    /// Returns the name of a build; `None` if it cannot be read.
    pub(super) async fn build_name(&self, id: &str) -> Option<String> {
        let build =
            self.call(&GetBuild { build_id: Uuid(id.to_owned()) }).await.ok()?.view::<GetBuild>().build;
        filled(&shorten_line(&build.name, LONGEST_BUILD))
    }

    /// Reads the page `number` of the list `list`. `filter` holds the other arguments of the list.
    pub(super) async fn list_page_of(
        &self,
        list: &'static OperationEntry,
        filter: &Fields,
        number: u64,
    ) -> Result<Reply, Failure> {
        self.send(list, page_arguments(filter, number)).await
    }

    /// Reads the pages of the list `L` that `filter` selects, at most [`MAX_PAGES`].
    ///
    /// # Errors
    /// The failure of the first page.
    pub(super) async fn list<L: ListedOperation>(&self, filter: &Fields) -> Result<ListRecords, Failure> {
        let read = |number| async move {
            Page::parse(L::NAME, self.list_page_of(L::entry(), filter, number).await?.into_value())
        };
        paging::read_all(MAX_PAGES, read).await
    }

    /// Reads all records of the list `L`.
    ///
    /// # Errors
    /// The failure of a page, and `too_large` for a list with more pages than are read: callers that change something need
    /// all records.
    pub(super) async fn read_list<L: ListedOperation, R: View>(
        &self,
        filter: &Fields,
    ) -> Result<Vec<R>, Failure> {
        let listed = self.list::<L>(filter).await?;
        if let Some((_, failure)) = listed.failed_pages.into_iter().next() {
            return Err(failure);
        }
        if listed.has_more_pages {
            let message = format!("{}: the list has more than {MAX_PAGES} pages", L::NAME);
            return Err(
                Failure::new(Code::TooLarge, message).hint("nothing was changed: name a single record")
            );
        }

        Ok(listed.records.iter().map(view).collect())
    }

    /// Refuses what `question` says unless the settings need no agreement. The detail `agreement` has the argument that
    /// states the number to which a user agrees.
    pub(super) fn require_agreement(
        &self,
        question: String,
        argument: &str,
        number: usize,
    ) -> Result<(), Failure> {
        let hint = format!(
            "nothing was sent: a person must agree; then call again with `argument:confirm: true` and \
             `argument:{argument}: {number}`"
        );
        self.caller
            .require_agreement(false, || question)
            .map_err(|failure| failure.hint(hint).detail(AGREEMENT, json!({argument: number})))
    }

    async fn send(&self, entry: &'static OperationEntry, arguments: Fields) -> Result<Reply, Failure> {
        self.caller.call(entry, ToolArguments::new(arguments, self.common_arguments())).await
    }

    fn common_arguments(&self) -> CommonArguments {
        // The user has been asked about the composite tool that makes this call.
        CommonArguments::in_project(self.project.as_deref()).confirmed()
    }
}

fn arguments_of<O: ListedOperation>(operation: &O) -> Result<Fields, Failure> {
    match serde_json::to_value(operation) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        other => Err(Failure::new(
            Code::InvalidArguments,
            format!("{}: the arguments are not an object: {other:?}", O::NAME),
        )),
    }
}
