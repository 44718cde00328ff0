//! The published form of schemas.

use serde_json::Value;

use crate::{
    fields::Fields,
    service::schema::keywords::{INTERNAL, KNOWN},
};

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

/// Returns the published form of the schema of one argument.
///
/// An object is published without the schemas of its fields, because some hosts drop them. Its description lists the
/// fields.
fn published_property(schema: &Fields, publish_description: &dyn Fn(&str) -> String) -> Fields {
    let mut property = published(schema, publish_description);
    for keyword in ["properties", "additionalProperties", "required"] {
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
