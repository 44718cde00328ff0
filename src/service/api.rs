//! Records and operations of the service, one module per resource.
//!
//! A record holds the fields of the contract. Answers of the service are passed on unchanged, so a field that is missing
//! here is still delivered. Fields that the contract may omit or set to `null` are optional.

pub mod artifacts;
pub mod bugs;
pub mod builds;
pub mod configs;
mod deletion;
mod delivered_picture;
pub mod executions;
pub mod exports;
pub mod folders;
pub mod jobs;
pub mod knowledge;
pub mod minions;
mod paging;
pub mod plans;
mod refused_fields;
pub mod run_start;
pub mod runs;
pub mod shared_steps;
pub mod step_body;
pub mod tests;
pub mod uploads;
mod values;

pub use deletion::Deleted;
pub use paging::{ListPage, PageNumber, PageSize, Pagination, SortOrder};
pub use values::{Id, Open, ReadVersion, Uuid};
