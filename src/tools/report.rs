//! The report page: a run, a summary of results or the trend of a plan as one HTML file that loads nothing else.
//!
//! Hosts with MCP Apps show the page as the view of a tool and send it the result of the tool. The command line writes
//! the page with its data and pictures, or renders a summary or a trend as text for a terminal.

mod data;
mod page;
mod pictures;
mod subject;
mod summary_text;
mod trend;
mod trend_text;

pub use data::{ReportData, gather_data};
pub use page::{page_with_data, view_page};
pub use pictures::{PictureAlbum, pictures_for_host};
pub use subject::ReportSubject;
pub use summary_text::SummaryText;
pub use trend::read_trend;
pub use trend_text::TrendText;
