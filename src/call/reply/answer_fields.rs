//! The fields that an answer must have, and those that have other names in the deployment.

use serde_json::Value;

use crate::{
    client::AddressPolicy,
    fields::Fields,
    service::{catalog::OperationEntry, operation::ResponseKind},
};

/// Settings that affect replies.
#[derive(Clone, Copy, Debug)]
pub struct ReplyLimits<'a> {
    /// The name that the deployment uses for the test-management system.
    pub tmsys_name: &'a str,
    /// Longest reply, in characters.
    pub max_reply_chars: usize,
    /// Which addresses that the service names may be passed on.
    pub address_policy: AddressPolicy,
}

/// Returns why an object cannot be the answer of the operation: a required field is missing, or no field is known.
pub(super) fn missing_field(entry: &OperationEntry, object: &Fields) -> Option<String> {
    if let Some(missing) = entry.required_fields.iter().find(|name| !object.contains_key(**name)) {
        return Some(format!("lacks `{missing}`"));
    }

    // The object has all required fields, which are fields of the operation. If the status alone is the answer, the body may
    // have any fields.
    if !entry.required_fields.is_empty() || entry.request.response_kind == ResponseKind::Status {
        return None;
    }

    let known = entry.output_schema().get("properties").and_then(Value::as_object)?;
    let has_known_field = object.keys().any(|name| known.contains_key(name));

    (!has_known_field).then(|| "has none of the fields of this operation".to_owned())
}

/// Gives the fields that are named after the test-management system of the deployment the names of the specification.
pub(super) fn rename_tmsys_fields(object: &mut Fields, tmsys_name: &str) {
    if tmsys_name == "tmsys" || !object.keys().any(|name| name.starts_with(tmsys_name)) {
        return;
    }

    let renamed = std::mem::take(object).into_iter().map(|(name, value)| {
        let rest = name.strip_prefix(tmsys_name).filter(|rest| rest.is_empty() || rest.starts_with('_'));
        (rest.map_or(name.clone(), |rest| format!("tmsys{rest}")), value)
    });
    *object = renamed.collect();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_fields_that_begin_with_the_name_of_the_system_are_renamed() {
        let mut object: Fields =
            serde_json::from_value(json!({"qms": 1, "qms_id": 2, "qmsx": 3, "id": 4})).expect("an object");
        rename_tmsys_fields(&mut object, "qms");
        assert_eq!(Value::from(object), json!({"tmsys": 1, "tmsys_id": 2, "qmsx": 3, "id": 4}));
    }
}
