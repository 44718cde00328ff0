//! Text from the service and from callers: hidden characters, text that is too long, and misspelled names.

mod hidden;
mod shortening;
mod similarity;

pub use hidden::{REPLACEMENT, has_hidden, remove_hidden, visible};
pub use shortening::{first_characters, shorten_line, shorten_name, single_line, without_open_joiner};
pub use similarity::{misspelled, most_similar};
