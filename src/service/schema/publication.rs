//! The published form of schemas.

use serde_json::Value;

use crate::{
    fields::Fields,
    service::schema::keywords::{INTERNAL, KNOWN},
};

/// Field of a page that holds its records.
pub const RECORDS: &str = "data";

/// Keywords that describe the fields of an object.
const OF_FIELDS: [&str; 3] = ["properties", "additionalProperties", "required"];

/// Returns the published form of the schema of the arguments of a tool, or of the entries of a list: without the keywords
/// that only the check of arguments reads. `publish_description` returns the published form of each description.
pub fn published(schema: &Fields, publish_description: &dyn Fn(&str) -> String) -> Fields {
    let publish_property = |(name, property): (&String, &Value)| {
        let published =
            property.as_object().map(|property| published_property(property, publish_description));
        (name.clone(), published.map_or_else(|| property.clone(), Value::Object))
    };
    let publish_value = |keyword: &str, value: &Value| match (keyword, value) {
        ("properties", Value::Object(properties)) => properties.iter().map(publish_property).collect(),
        ("items", Value::Object(entry)) => Value::Object(published(entry, publish_description)),
        ("description", Value::String(text)) => Value::from(publish_description(text)),
        _ => value.clone(),
    };

    let kept = schema.iter().filter(|(keyword, value)| !is_unpublished(keyword, value, schema));
    kept.map(|(keyword, value)| (keyword.clone(), publish_value(keyword, value))).collect()
}

/// Returns the published form of the schema of an answer: with its fields, and for a page with the fields of its records.
/// The objects in these fields are published without their own fields, because hosts compile every schema before their first
/// call, and few of them show it to a model.
pub fn published_answer(schema: &Fields) -> Fields {
    with_fields(schema, &|name, field| match field.get("items") {
        Some(Value::Object(record)) if name == RECORDS => {
            let mut records = field.clone();
            records.insert("items".to_owned(), with_fields(record, &|_, field| without_fields(field)).into());
            records
        }
        _ => without_fields(field),
    })
}

/// Returns the schema of a field without the fields of the objects in it.
fn without_fields(field: &Fields) -> Fields {
    let mut published = field.clone();
    published.retain(|keyword, _| !OF_FIELDS.contains(&keyword.as_str()));

    if let Some(Value::Object(entry)) = published.get_mut("items") {
        *entry = without_fields(entry);
    }

    published
}

/// Returns the schema of an object in which `publish_field` returns the published form of each field.
fn with_fields(schema: &Fields, publish_field: &dyn Fn(&str, &Fields) -> Fields) -> Fields {
    let mut object = schema.clone();
    let fields = object.get_mut("properties").and_then(Value::as_object_mut);

    for (name, field) in fields.into_iter().flatten() {
        if let Value::Object(field) = field {
            *field = publish_field(name, field);
        }
    }

    object
}

/// Returns the published form of the schema of one argument.
///
/// An object is published without the schemas of its fields, because some hosts drop them. Its description lists the
/// fields.
fn published_property(schema: &Fields, publish_description: &dyn Fn(&str) -> String) -> Fields {
    let mut property = published(schema, publish_description);
    for keyword in OF_FIELDS {
        property.shift_remove(keyword);
    }

    property
}

/// Returns whether hosts do not see a keyword.
fn is_unpublished(keyword: &str, value: &Value, schema: &Fields) -> bool {
    keyword == KNOWN || INTERNAL.contains(&keyword) || is_obvious(keyword, value, schema)
}

/// Returns whether a limit is not worth its tokens: that an id or a list is not empty, or that a number without an upper
/// limit is not negative.
fn is_obvious(keyword: &str, limit: &Value, schema: &Fields) -> bool {
    match keyword {
        "minItems" => limit == 1 && !schema.contains_key("maxItems"),
        "minLength" => limit == 1 && !schema.contains_key("maxLength"),
        "minimum" => limit == 0 && !schema.contains_key("maximum"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn published_answer_of(schema: &Value) -> Value {
        published_answer(schema.as_object().expect("an object")).into()
    }

    #[test]
    fn an_answer_is_published_without_the_fields_of_the_objects_in_it() {
        let object =
            json!({"type": "object", "properties": {"id": {}}, "required": ["id"], "description": "A test."});
        let map = json!({"type": ["object", "null"], "additionalProperties": object});
        let schema = json!({
            "properties": {"id": {"type": "string"}, "test": object, "players": {"items": object}, "by_key": map},
            "required": ["id"],
        });

        let object = json!({"type": "object", "description": "A test."});
        let expected = json!({
            "properties": {
                "id": {"type": "string"},
                "test": object,
                "players": {"items": object},
                "by_key": {"type": ["object", "null"]},
            },
            "required": ["id"],
        });
        assert_eq!(published_answer_of(&schema), expected);
    }

    #[test]
    fn a_page_is_published_with_the_fields_of_its_records() {
        let test = json!({"type": "object", "properties": {"name": {}}});
        let record = |test: &Value| json!({"properties": {"id": {"type": "string"}, "test": test}});
        let page = |test: &Value, pagination: &Value| json!({"properties": {"data": {"type": "array", "items": record(test)}, "pagination": pagination}});

        let object = json!({"type": "object"});
        assert_eq!(published_answer_of(&page(&test, &test)), page(&object, &object));
    }
}
