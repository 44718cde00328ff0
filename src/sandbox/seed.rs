//! Seed data: two projects of a game studio, which are equal in every sandbox.

pub(super) mod arena;
mod bugs;
mod builders;
mod builds;
pub(super) mod demo;
mod demo_tests;
mod history;
mod ids;
mod knowledge;
mod past_jobs;

pub use ids::*;
