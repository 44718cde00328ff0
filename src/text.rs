//! Text from the service and from callers: hidden characters, text that is too long, and misspelled names.

mod hidden;
mod joining;
mod shortening;
mod similarity;

pub use hidden::{REPLACEMENT, has_hidden, remove_hidden, visible};
pub use shortening::{shorten_line, shorten_name, single_line};
pub use similarity::most_similar;
