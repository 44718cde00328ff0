//! Memory of calls whose outcome is unknown, so that no call is repeated by accident.
//!
//! The outcome of a call that changes something is unknown if the service did not answer, failed, or returned an unusable
//! answer. An equal call is not sent before the service has been asked whether the earlier call happened. Records that
//! the earlier call may have made are reported once. A further equal call is sent, because its caller has read the report.
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
mod time_window;

pub(super) use attempt::{Attempt, AttemptMemory, UncertainAttempt};
pub(super) use call_digest::CallDigest;
pub(super) use clock_reading::ClockReading;
pub(super) use matching::{as_recorded, matches_arguments};
pub(super) use messages::{Elapsed, equal_call_in_flight, probably_happened, probe_failed, too_little_time};
pub(super) use probe_list::{caller_view, is_past_window, list_arguments, may_be_new, record_id};
pub(super) use time_window::TimeWindow;
