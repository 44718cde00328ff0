//! Records of the service as resources, so that people can attach them. A resource is the answer of a tool: the same
//! call with the same project and limits. Every resource can be read with a tool, too.
//!
//! The list contains only resources whose URI needs no id. Hosts read the list when they start, when a request to the
//! service would take time or fail the start.

mod listing;
mod lookup;
mod reading;
mod template;
mod template_table;
mod uri;

pub(super) use self::{
    listing::{list, list_templates, offered_templates},
    reading::{read, read_error},
    template::PROJECT_VARIABLE,
};
