//! Completion of what a person types: ids for the variables of resource templates and the arguments of prompts, the
//! newest first.
//!
//! A host sends a request for every keystroke. Therefore each list is read once and kept for a few seconds. A list that
//! cannot be read is kept as an empty list, because hosts show an error at every keystroke.

mod cache;
mod candidate;
mod completer;
mod record_list;
mod record_reader;

pub(super) use self::completer::Completer;
