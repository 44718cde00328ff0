//! A JSON object whose fields keep the order in which they were written.

use serde_json::{Map, Value};

/// The arguments of a call, the fields of a request, or the fields of a response.
pub type Fields = Map<String, Value>;
