//! Completion of what a person types: ids for the variables of resource templates and the arguments of prompts, the
//! newest first.
//!
//! A host sends a request with every key that is pressed, so that each list is read once and kept for a few seconds. A
//! list that cannot be read is kept as an empty list: a person who types does not want to read an error.

mod cache;
mod candidate;
mod completer;
mod record_list;
mod record_reader;

pub(super) use self::completer::Completer;
