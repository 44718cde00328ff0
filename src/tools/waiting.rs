//! Waiting until jobs, a run or an execution of a test plan are completed (supplement 3.3, 15).
//!
//! A wait sends few requests and reports progress at least every five seconds. At its time limit it returns what is
//! known so far and how to continue.

mod completion;
pub(crate) mod execution_counts;
mod expected_jobs;
mod item;
mod job_list;
mod job_poller;
pub mod junit;
mod limits;
mod poll_interval;
mod poll_loop;
mod poll_state;
pub(crate) mod record;
mod reply;
mod target;
mod wait;

pub use completion::{Completion, WaitStatus};
pub(crate) use item::LONGEST_NAME;
pub use item::ResultItem;
pub(crate) use limits::{GRACE, should_give_up};
pub use reply::WaitReply;
pub use target::WaitTarget;
pub use wait::Wait;
