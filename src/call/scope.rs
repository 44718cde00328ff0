//! The project that a call goes to (`design.md` 4).
//!
//! In project scope every call goes to the configured project. In global scope the ids of runs, jobs and plan executions
//! decide the project. Their owner is looked up only if key and arguments leave a choice.

mod errors;
mod id;
mod lookup;
mod resolution;
mod session;

pub(crate) use errors::{other_project_refused, upload_of_other_project};
pub(crate) use id::find_invalid_ids;
pub use id::owned_ids;
pub use resolution::{ResolvedProject, Scope};
