//! The sandbox over real HTTP: expected values come from the specification and its supplement.

mod authentication;
mod client;
