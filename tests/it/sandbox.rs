//! The sandbox over real HTTP. The expected values come from `docs/service.md`.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "clippy takes the functions that tests share for other code"
)]

mod artifacts;
mod authentication;
mod authoring;
mod client;
mod deleting;
mod exporting;
mod faults;
mod folders;
mod knowledge;
mod lifecycle;
mod lists;
mod live;
mod plans;
mod reading;
mod requests;
mod shared_steps;
mod starting;
mod stopping;
mod uploads;
