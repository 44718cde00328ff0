//! JSON bodies of requests.

use serde_json::Value;

use crate::{
    fields::Fields,
    service::{catalog::OperationEntry, schema::KNOWN},
};

/// Name of the case links in the arguments of tools.
const CASE_LINKS: &str = "tmsys";

/// Returns the body that contains `fields`. `tmsys` is the deployment's name of the test-management system.
pub(super) fn body(operation: &OperationEntry, fields: Vec<(&String, &Value)>, tmsys: &str) -> Vec<u8> {
    let mut fields: Fields = fields.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    rename_case_links(operation, &mut fields, CASE_LINKS, tmsys);

    let body = match operation.request.wrapper {
        Some(wrapper) => Fields::from_iter([(wrapper.to_owned(), Value::Object(fields))]),
        None => fields,
    };

    Value::Object(body).to_string().into_bytes()
}

/// Renames the case links in objects that are sent unchanged, from `from` to `to`. Deployments name the field after
/// their test-management system.
pub fn rename_case_links(operation: &OperationEntry, fields: &mut Fields, from: &str, to: &str) {
    if from == to {
        return;
    }

    let properties = operation.input_schema().get("properties");
    let is_sent_unchanged = |name: &str| {
        let property = properties.and_then(|properties| properties.get(name));
        property.is_some_and(|property| property.get(KNOWN).is_some())
    };

    for (_, value) in fields.iter_mut().filter(|(name, _)| is_sent_unchanged(name)) {
        if let Value::Object(object) = value
            && let Some(links) = object.shift_remove(from)
        {
            object.insert(to.to_owned(), links);
        }
    }
}
