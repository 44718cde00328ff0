//! Records as resources, for hosts that let people attach them. Each is the answer of a tool: the same call, project
//! and limit, so that nothing is reachable only as a resource.
//!
//! The list itself holds only what needs no id: hosts ask for it when they start, and a request to the service there
//! would cost time or fail the start.

mod address;
mod reading;
mod template;

use percent_encoding::utf8_percent_encode;
use rmcp::{
    ErrorData,
    model::{ErrorCode, Resource, ResourceTemplate},
};
use serde_json::json;

pub(super) use self::template::{PROJECT, TEMPLATES, Template};
use crate::{service::request::RESERVED, tools::selection::Selection};

/// What every resource is.
const MIME_TYPE: &str = "application/json";

/// The templates whose tools are offered.
pub(super) fn offered(selection: &Selection) -> impl Iterator<Item = &'static Template> {
    TEMPLATES.iter().filter(|template| template.is_offered(selection))
}

/// The templates as hosts list them.
pub(super) fn templates(selection: &Selection) -> Vec<ResourceTemplate> {
    let listed = |template: &Template| {
        ResourceTemplate::new(template.uri_template(), template.name)
            .with_title(template.title)
            .with_description(template.description())
            .with_mime_type(MIME_TYPE)
    };
    offered(selection).map(listed).collect()
}

/// The resources that need no id: in project scope those of the project.
pub(super) fn settled(selection: &Selection, project: Option<&str>) -> Vec<Resource> {
    let Some(project) = project else { return Vec::new() };
    let project = utf8_percent_encode(project, RESERVED).to_string();
    let listed = |template: &Template| {
        Resource::new(template.uri_template().replace("{project}", &project), template.name)
            .with_title(template.title)
            .with_description(template.description())
            .with_mime_type(MIME_TYPE)
    };

    offered(selection).filter(|template| template.variables.is_empty()).map(listed).collect()
}

/// The template that a URI is of, and the arguments that it stands for.
fn find(uri: &str, selection: &Selection) -> Result<address::Found, ErrorData> {
    let found = address::find(uri).map_err(|why| unknown(uri, &why, selection))?;
    if found.template.is_offered(selection) {
        return Ok(found);
    }
    let why = format!("its tool `{}` is switched off by the setting TAS_TOOLSETS", found.template.tool);
    Err(unknown(uri, &why, selection))
}

fn unknown(uri: &str, why: &str, selection: &Selection) -> ErrorData {
    const LONGEST: usize = 200;
    let shown: String = uri.chars().take(LONGEST).collect();
    let valid: Vec<_> = offered(selection).map(Template::uri_template).collect();
    let message = format!("no resource `{shown}`: {why}; valid: {}", valid.join(", "));
    let data = json!({"uri": shown, "valid": valid});
    ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, Some(data))
}
