//! Text from the service and from callers: hidden characters, text that is too long, and misspelled names.

mod hidden;
mod shortening;
mod similarity;

pub use hidden::{is_hidden, remove_hidden};
pub use shortening::{shorten_line, shorten_name};
pub use similarity::most_similar;
