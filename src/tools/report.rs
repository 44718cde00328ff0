//! The report page: a run or a summary of results as one HTML file that loads nothing else.
//!
//! Hosts with MCP Apps show the page as the view of a tool and send it the result of the tool. The command line writes
//! the page with its data, or renders a summary as text for a terminal.

mod data;
mod page;
mod subject;
mod summary_text;

pub use data::{ReportData, gather_data};
pub use page::{page_with_data, view_page};
pub use subject::ReportSubject;
pub use summary_text::SummaryText;
