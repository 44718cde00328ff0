//! A configuration text in JSON, with the comments and trailing commas that some hosts permit.

use std::fmt;

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode},
};
use serde_json::Value;

use super::{document::Document, document_error::DocumentError, entry::ENTRY};
use crate::fields::Fields;

/// What is permitted beyond JSON.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A parsed text.
pub(super) struct JsonDocument {
    root: CstRootNode,
    container: &'static str,
}

impl JsonDocument {
    /// Returns the object of the whole text.
    fn object(&self) -> Result<CstObject, DocumentError> {
        self.root.object_value().ok_or(DocumentError::NoObject)
    }

    /// Returns the object with the entries of all servers, if there is one.
    fn servers(&self) -> Result<Option<CstObject>, DocumentError> {
        let Some(field) = find(&self.object()?, self.container)? else { return Ok(None) };
        let object = field.object_value();
        object.map(Some).ok_or_else(|| DocumentError::NotAnObject(self.container.to_owned()))
    }

    fn field(&self) -> Result<Option<CstObjectProp>, DocumentError> {
        self.servers()?.map_or(Ok(None), |servers| find(&servers, ENTRY))
    }
}

impl Document for JsonDocument {
    fn parse(text: &str, container: &'static str) -> Result<Self, DocumentError> {
        let root = CstRootNode::parse(text, &OPTIONS);
        let root = root.map_err(|error| DocumentError::Syntax(error.to_string()))?;
        if root.value().is_none() {
            root.set_value(CstInputValue::Object(Vec::new()));
        }

        Ok(Self { root, container })
    }

    fn value(&self) -> Option<Value> {
        self.root.to_serde_value()
    }

    fn entry(&self) -> Result<Option<Value>, DocumentError> {
        let Some(field) = self.field()? else { return Ok(None) };
        let value = field.value().and_then(|value| value.to_serde_value());
        value.map(Some).ok_or(DocumentError::Unsupported)
    }

    fn put(&mut self, entry: &Fields) -> Result<(), DocumentError> {
        let value = input(&Value::Object(entry.clone()));
        if let Some(field) = self.field()? {
            field.set_value(value);
            return Ok(());
        }

        let servers = match self.servers()? {
            Some(servers) => servers,
            None => self.object()?.object_value_or_set(self.container),
        };
        servers.append(ENTRY, value);

        Ok(())
    }

    fn set_field(&mut self, name: &str, value: &Value) -> Result<(), DocumentError> {
        let entry = self.field()?.and_then(|field| field.object_value()).ok_or(DocumentError::Unsupported)?;
        match find(&entry, name)? {
            Some(field) => field.set_value(input(value)),
            None => drop(entry.append(name, input(value))),
        }

        Ok(())
    }

    fn remove(&mut self) -> Result<(), DocumentError> {
        if let Some(field) = self.field()? {
            field.remove();
        }

        Ok(())
    }
}

impl fmt::Display for JsonDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(formatter)
    }
}

/// Returns the field `name` of `object`.
fn find(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, DocumentError> {
    let fields = object.properties().into_iter();
    let mut found = fields.filter(|field| field.decoded_name().is_some_and(|found| found == name));

    match (found.next(), found.next()) {
        (_, Some(_)) => Err(DocumentError::Duplicate(name.to_owned())),
        (field, None) => Ok(field),
    }
}

/// Returns a value in the form that the library inserts.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
