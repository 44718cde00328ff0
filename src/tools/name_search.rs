//! The search for records by their names, in the lists of the service.

mod answer;
mod asked_name;
mod folder_tests;
mod list_reader;
mod matches;
mod record_kind;
mod search;

pub use answer::{FoundRecord, NameMatch, NameResult, NameSearchAnswer};
pub use matches::is_named;
pub use record_kind::{NamedList, RecordKind};
pub use search::NameSearch;
