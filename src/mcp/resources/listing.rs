//! The lists of resources and of resource templates.

use percent_encoding::utf8_percent_encode;
use rmcp::model::{Resource, ResourceTemplate};

use super::{
    template::{MIME_TYPE, PROJECT_VARIABLE, RecordTemplate},
    template_table::TEMPLATES,
};
use crate::{mcp::config::McpConfig, service::request::RESERVED, tools::selection::Selection};

/// Returns the templates whose tools are offered.
pub(in crate::mcp) fn offered_templates(
    selection: &Selection,
) -> impl Iterator<Item = &'static RecordTemplate> {
    TEMPLATES.iter().filter(|template| template.is_offered(selection))
}

/// Returns the templates as hosts list them.
pub(in crate::mcp) fn list_templates(selection: &Selection) -> Vec<ResourceTemplate> {
    let published = |template: &RecordTemplate| {
        ResourceTemplate::new(template.uri_template(), template.name)
            .with_title(template.title)
            .with_description(template.description())
            .with_mime_type(MIME_TYPE)
    };
    offered_templates(selection).map(published).collect()
}

/// Returns the resources whose URI needs no id. In global scope there are none, because every URI names a project.
pub(in crate::mcp) fn list(config: &McpConfig) -> Vec<Resource> {
    let Some(project) = &config.project else { return Vec::new() };
    // A project id may contain characters that have a meaning in URIs.
    let project = utf8_percent_encode(project, RESERVED).to_string();
    let placeholder = format!("{{{PROJECT_VARIABLE}}}");

    let published = |template: &RecordTemplate| {
        Resource::new(template.uri_template().replace(&placeholder, &project), template.name)
            .with_title(template.title)
            .with_description(template.description())
            .with_mime_type(MIME_TYPE)
    };
    let without_id = offered_templates(&config.selection).filter(|template| template.variables.is_empty());

    without_id.map(published).collect()
}
