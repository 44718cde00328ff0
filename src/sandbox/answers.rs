//! The answers to the operations: one module per resource, with `impl Answer<Operation> for World`.

pub(super) mod answer;
mod artifacts;
mod bugs;
pub(super) mod builds;
mod configs;
mod exports;
pub(super) mod files;
mod folders;
mod jobs;
mod knowledge;
mod launch;
mod live_runs;
mod plans;
mod records;
mod run_start;
mod runs;
mod shared_steps;
mod targets;
mod test_draft;
mod tests;

/// The words in which the answers are written.
mod prelude {
    pub(super) use super::{
        answer::{Answer, AnswerResult, Answered, ApiError, Caller, check_version, existing},
        records::{has_all_tags, in_order, matches_id, newest_first, page, single_page, wire_name},
    };
    pub(super) use crate::sandbox::model::job::SimulatedJob;
    pub(super) use crate::sandbox::model::job::{JobStatus, RunAttempt, RunProgress, Timeline};
    pub(super) use crate::sandbox::model::records::find;
    pub(super) use crate::sandbox::model::saved_test::{RunResult, SavedTest};
    pub(super) use crate::sandbox::model::time::{Millis, Moment};
    pub(super) use crate::sandbox::model::world::Project;
    pub(super) use crate::sandbox::model::world::World;
    pub(super) use crate::service::api::{Deleted, ListPage, Open, SortOrder};
}
