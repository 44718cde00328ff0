//! Text from the service and from callers: hidden characters, text that is too long, and misspelled names.

mod hidden;
mod joining;
mod shortening;
mod similarity;

pub use hidden::{REPLACEMENT, has_hidden, remove_hidden, visible};
pub use shortening::{
    first_characters, quoted_argument, shorten_line, shorten_name, single_line, visible_name,
    without_open_joiner,
};
pub use similarity::{misspelled, most_similar};
