//! One HTTP operation of the service, described once.

mod definition;
mod duplicate_check;
mod fallback;
mod path;
mod request_info;
mod response_kind;
mod url_base;

pub use definition::Operation;
pub use duplicate_check::{DuplicateCheck, FieldMatch, ListProbe, Probe};
pub use fallback::Fallback;
pub use path::{PROJECT, Placeholder, TMSYS, placeholder};
pub use request_info::RequestInfo;
pub use response_kind::{Pictures, ResponseKind};
pub use url_base::UrlBase;
