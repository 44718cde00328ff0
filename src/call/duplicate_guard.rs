//! Memory of calls whose outcome is unknown, so that no call is repeated by accident.
//!
//! The outcome of a call that changes something is unknown if the service did not answer, failed, or returned an unusable
//! answer. An equal call is not sent before the service has been asked whether the earlier call happened. Records that
//! the earlier call may have made are reported once. A further equal call is sent, because its caller has read the report.
//!
//! Several processes can share a [`SharedStore`](crate::call::shared_store::SharedStore). It has an entry of every attempt
//! whose outcome is not known yet, so that an equal call is recognized by each process, also after the process of the attempt
//! has ended. Without the store, or while it is not available, each process remembers its own attempts only.
//!
//! This module remembers the attempts and decides which records they may have made.
//! [`Gateway::call_guarded`](crate::call::gateway::Gateway::call_guarded) uses it.

mod attempt;
mod call_digest;
mod clock_reading;
mod issued_ids;
mod matching;
mod messages;
mod probe_list;
mod service_clock;
mod shared_attempt;
mod shared_entry;
mod time_window;
mod uncertain_attempt;

pub(super) use attempt::{Attempt, AttemptMemory};
pub(super) use call_digest::CallDigest;
pub(super) use clock_reading::ClockReading;
pub(super) use matching::{as_recorded, matches_arguments};
pub(super) use messages::{Elapsed, equal_call_in_flight, probably_happened, probe_failed, too_little_time};
pub(super) use probe_list::{caller_view, is_past_window, list_arguments, may_be_new, record_id};
pub(super) use time_window::TimeWindow;
pub(super) use uncertain_attempt::UncertainAttempt;
