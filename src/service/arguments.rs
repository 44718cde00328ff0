//! Checks arguments against an input schema and reports every violation at once.
//!
//! Values with a clear meaning are coerced (`design.md` 5), because some hosts send `"3"` for 3, `"true"` for true, or
//! an object as a string of JSON. The sandbox uses the same check: with coercion for queries, whose values are all text,
//! and without it for bodies.

mod check;
mod coercion;
mod json_type;
mod mode;

pub use check::check;
pub use json_type::is_uuid;
pub use mode::Mode;
