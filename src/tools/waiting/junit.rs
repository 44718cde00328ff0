//! The results of a wait as JUnit XML for CI systems: one suite per job, with one case for the attempt that decides.
//!
//! The document uses only elements and attributes of the schema that Jenkins publishes (`junit-10.xsd`).

mod case;
mod document;
mod outcome;
mod step;

pub use case::Case;
pub use document::render_document;

use super::Completion;

/// Returns the name of what was started, for the class name of the cases: the name of the plan, else `tests`.
pub fn plan_name(completion: &Completion) -> String {
    let name = completion.resource.as_ref().and_then(|resource| resource.get("test_plan_name")?.as_str());
    name.unwrap_or("tests").to_owned()
}
