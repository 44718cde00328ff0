//! The query of a request as fields.

use serde_json::{Value, json};

use crate::fields::Fields;

/// Returns the fields of a query. Every value is text, except lists of the schema.
///
/// A list is comma-separated or repeated. If another name is repeated, its last value counts. Bytes that are not
/// UTF-8 become the replacement character.
pub(super) fn query_fields(schema: &Fields, query: &str) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if !is_list(schema, &name) {
            fields.insert(name.into_owned(), Value::from(value.into_owned()));
            continue;
        }

        let list = fields.entry(name.into_owned()).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.extend(value.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from));
        }
    }

    fields
}

fn is_list(schema: &Fields, name: &str) -> bool {
    let property = schema.get("properties").and_then(|properties| properties.get(name));
    property.and_then(|property| property.get("type")).is_some_and(|kind| kind == "array")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_become_fields() {
        let schema = json!({"properties": {"tags": {"type": "array"}, "page": {"type": "integer"}}});
        let schema = schema.as_object().unwrap();

        for (query, expected) in [
            ("", json!({})),
            ("page=1&&page=2", json!({"page": "2"})),
            ("page", json!({"page": ""})),
            ("tags=a,%20b,&tags=c+d", json!({"tags": ["a", "b", "c d"]})),
            ("tags=", json!({"tags": []})),
            ("other=%E2%9C%93", json!({"other": "\u{2713}"})),
            ("other=%ff%", json!({"other": "\u{fffd}%"})),
        ] {
            assert_eq!(Value::Object(query_fields(schema, query)), expected, "{query}");
        }
    }
}
