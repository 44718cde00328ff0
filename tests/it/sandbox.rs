//! The sandbox over real HTTP: expected values come from the specification and its supplement.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "clippy takes the functions that tests share for other code"
)]

mod authentication;
mod authoring;
mod client;
mod exporting;
mod faults;
mod lifecycle;
mod lists;
mod reading;
mod requests;
mod seeds;
mod starting;
mod stopping;
