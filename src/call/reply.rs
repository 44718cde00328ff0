//! Replies to callers, made of the answers of the service (`design.md` 3).
//!
//! [`Reply::new`] converts an answer. The modules below it handle files, redirects, pictures, the selection of fields,
//! the pointer to the next page and the limit of size.

mod answer;
mod answer_fields;
mod failure_limit;
mod file;
mod file_link;
mod json_length;
mod length_limit;
mod next_page;
mod pictures;
#[cfg(test)]
mod random_answers;
mod redirect;
mod selection;

pub use answer::{Reply, is_success};
pub(in crate::call) use answer::{off_thread, parse_body};
pub use answer_fields::ReplyLimits;
pub use failure_limit::limit_failure;
pub(super) use file::file_failure;
pub(crate) use file::full_picture_arguments;
pub use file_link::FileLink;
pub use length_limit::ReplySource;
pub use pictures::base64;
pub use selection::FieldSelection;
