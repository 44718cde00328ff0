//! Searches the list in which the result of a call would appear.

use std::ops::ControlFlow;

use serde_json::Value;

use super::{
    configured::ConfiguredGateway, guarded::WRITE_RESERVE, probe::ProbeContext, sending::PreparedCall,
};
use crate::{
    call::{
        context::CallContext,
        duplicate_guard::{
            as_recorded, caller_view, is_past_window, list_arguments, matches_arguments, may_be_new,
            record_id,
        },
        paging::{self, MAX_PAGES, PAGE_SIZE, Page, ScanEnd},
        reply::Reply,
    },
    client::HttpResponse,
    failure::{Code, Failure},
    service::{catalog, operation::ListProbe},
};

impl ConfiguredGateway {
    /// Returns the records of a list that the call may have made, as callers see them.
    ///
    /// # Errors
    /// The failure of a page, unless an earlier page has shown a record.
    pub(super) async fn find_new_records(
        &self,
        probe: &ListProbe,
        call: &PreparedCall<'_>,
        context: &ProbeContext,
    ) -> Result<Vec<Value>, Failure> {
        let mut found = Vec::new();
        let outcome = self.search_list(probe, call, context, &mut found).await;
        // A record that was found is reported even if a later page could not be read.
        if found.is_empty() { outcome.map(|()| found) } else { Ok(found) }
    }

    async fn search_list(
        &self,
        probe: &ListProbe,
        call: &PreparedCall<'_>,
        context: &ProbeContext,
        found: &mut Vec<Value>,
    ) -> Result<(), Failure> {
        let recorded = as_recorded(&call.request.arguments, &call.context.key);
        // The search must leave time for the write itself.
        let call_context = &call.context.reserving(WRITE_RESERVE);
        let mut start = None;
        let read = |number| async move { self.read_list_page(probe, call, call_context, number).await };

        let end = paging::scan(MAX_PAGES, read, |number, (page, answer): (Page, HttpResponse)| {
            // All pages are compared with the same time, so that only the date of the first page counts.
            let start = *start.get_or_insert_with(|| context.window.start(answer.date));
            let is_issued =
                |record| record_id(probe, record).is_some_and(|id| context.issued_ids.contains(&id));
            let candidates = page.records.iter().filter(|record| {
                may_be_new(probe, record, start)
                    && matches_arguments(probe.matches, record, &recorded)
                    && !is_issued(record)
            });

            found.extend(candidates.map(|record| caller_view(probe, record)));

            let is_last = page.records.is_empty() || page.is_last(number);
            Ok(ControlFlow::<(), _>::Continue(is_last || is_past_window(probe, &page.records, start)))
        });

        match end.await? {
            ScanEnd::PageLimit => {
                let most = MAX_PAGES * PAGE_SIZE;
                Err(Failure::new(Code::Rejected, format!("the list has more than {most} records")))
            }
            ScanEnd::LastPage | ScanEnd::Stopped(()) => Ok(()),
        }
    }

    async fn read_list_page(
        &self,
        probe: &ListProbe,
        call: &PreparedCall<'_>,
        context: &CallContext<'_>,
        number: u64,
    ) -> Result<(Page, HttpResponse), Failure> {
        let list = catalog::find(probe.list)
            .ok_or_else(|| Failure::new(Code::NotFound, format!("there is no `{}`", probe.list)))?;
        let request = context.request(list, list_arguments(probe, &call.request.arguments, number))?;
        let answer = context.send_successfully(&request, call.project.as_deref()).await?;
        self.attempts.record_service_time(answer.date, call.clock);

        let reply = Reply::new(&request, &answer, &context.key, &self.reply_limits())?;
        let page = Page::parse(list.name, reply.into_value())?;
        // Without the number of pages the end of the list is unknown, and an absent record proves nothing.
        if page.total_pages.is_none() {
            let message = format!("{}: the service's answer is not a page of a list", list.name);
            return Err(Failure::new(Code::BadResponse, message));
        }

        Ok((page, answer))
    }
}
