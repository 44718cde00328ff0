//! JSON Schemas as MCP hosts accept them: inlined, without combinators, `$schema` and Rust's number formats.
//!
//! Input schemas use the conservative subset of `design.md` 5. Output schemas allow `null` where the service does, and
//! require almost nothing, because hosts drop an answer that lacks a required field.

mod generation;
mod keywords;
mod publication;

pub(crate) use generation::passed_through;
pub use generation::{input, output};
pub(super) use keywords::UNQUOTED;
pub use keywords::{KNOWN, OR_TYPE};
pub use publication::{RECORDS, published, published_answer};
