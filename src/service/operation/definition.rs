//! The trait that describes an operation.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::service::{operation::RequestInfo, tool::ToolInfo, view::View};

/// A single HTTP operation, exposed as a single tool.
///
/// The implementing struct is the arguments of the tool, the request that the client sends, and the request that the
/// sandbox answers. Its doc comment is the description of the tool. The doc comments of its fields are the
/// descriptions of the arguments.
///
/// Fields that are placeholders of [`RequestInfo::path`] travel in the path. The other fields of a `GET` or `DELETE`
/// travel in the query, except [`RequestInfo::body_fields`]. The other fields of other methods travel in a JSON body,
/// except [`RequestInfo::query_fields`].
pub trait Operation: DeserializeOwned + Serialize + JsonSchema + 'static {
    /// Properties of the tool.
    const TOOL: ToolInfo;
    /// Properties of the HTTP request.
    const REQUEST: RequestInfo;
    /// Name of the tool.
    const NAME: &'static str = Self::TOOL.name;

    /// The answer of the service, or the value that replaces an answer that is not JSON. Callers get the JSON as it came;
    /// this type is the view that logic reads.
    type Answer: View + Serialize + JsonSchema + 'static;
}
