//! How the arguments of an operation become an HTTP request: path, query and body.

mod body;
mod encoding;
mod layout;
mod path;

pub use body::rename_case_links;
pub use encoding::{RESERVED, encoded};
pub use layout::{FileRange, Layout, layout};
pub use path::check_segment;
