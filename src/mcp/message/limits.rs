//! Limits of the names, ids and metadata of a message. A name is compared with others and repeated in errors, and an id, a
//! progress token and the metadata are kept as long as the call lasts.

use std::{borrow::Cow, fmt};

use rmcp::model::ErrorData;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use crate::{
    json::parse_json,
    text::{first_characters, single_line},
};

/// Longest name of a method, tool, prompt or argument, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 128;

/// Longest id of a request and longest progress token, in bytes.
pub(super) const MAX_ID_BYTES: usize = 256;

/// Longest metadata that this server reads, in bytes. Traces and the capabilities of a client take less.
const MAX_META_BYTES: usize = 16 << 10;

/// Maximum number of characters of a long name that the error repeats.
const QUOTED_CHARS: usize = 60;

/// The members of `_meta` that this server or its library reads, besides those of the protocol.
const KNOWN_META: [&str; 4] = ["progressToken", "traceparent", "tracestate", "baggage"];

/// Beginning of the members of `_meta` that the protocol defines.
const PROTOCOL_META: &str = "io.modelcontextprotocol/";

/// The parameter with the arguments of a tool or a prompt.
const ARGUMENTS: &str = "arguments";

/// The parameter with the page of a list.
const CURSOR: &str = "cursor";

/// Why arguments are refused.
const NOT_AN_OBJECT: &str = "`params.arguments` must be an object";

/// The members of a JSON object, not decoded yet.
#[derive(Default)]
pub(super) struct Members<'a>(Vec<(Text<'a>, &'a RawValue)>);

/// A JSON string, decoded.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Members<'a> {
    /// Returns the members of a value; none if it is no object.
    pub(super) fn of(value: &'a RawValue) -> Self {
        let is_object = value.get().starts_with('{');
        is_object.then(|| serde_json::from_str(value.get()).ok()).flatten().unwrap_or_default()
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (&*name.0, *value))
    }

    /// Returns the members of the objects that have this name. A name may occur several times.
    fn inside(&self, name: &str) -> Vec<(Text<'a>, &'a RawValue)> {
        let objects = self.iter().filter(|(member, _)| *member == name);
        objects.flat_map(|(_, value)| Members::of(value).0).collect()
    }

    /// Returns the parameters as JSON with arguments that are an object, or `None` if they are one already, or missing. Some
    /// hosts send the arguments as a text.
    ///
    /// # Errors
    /// Why the arguments are no object.
    pub(super) fn with_object_arguments(&self) -> Result<Option<String>, String> {
        let Some((_, arguments)) = self.iter().find(|(member, _)| *member == ARGUMENTS) else {
            return Ok(None);
        };
        let text = match arguments.get() {
            object if object.starts_with('{') || object == "null" => return Ok(None),
            text if text.starts_with('"') => serde_json::from_str::<Text<'_>>(text),
            _ => return Err(NOT_AN_OBJECT.to_owned()),
        };
        let text = text.map_err(|error| format!("{NOT_AN_OBJECT}: {error}"))?;

        let object = match parse_json(text.0.as_bytes()) {
            Ok(Value::Object(object)) => Value::Object(object).to_string(),
            Ok(_) => return Err(format!("{NOT_AN_OBJECT}, but the text is JSON of another kind")),
            Err(problem) => return Err(format!("{NOT_AN_OBJECT}, but the text {problem}")),
        };
        Ok(Some(self.with(ARGUMENTS, &object)))
    }

    /// Returns the parameters as JSON with a cursor that is a text, or `None` if it is one already, or missing. The library
    /// ignores a cursor of another type, so that a host would read the first page again and again.
    pub(super) fn with_text_cursor(&self) -> Option<String> {
        let (_, cursor) = self.iter().find(|(member, _)| *member == CURSOR)?;
        let is_readable = cursor.get().starts_with('"') || cursor.get() == "null";
        (!is_readable).then(|| self.with(CURSOR, &Value::from("of another type").to_string()))
    }

    /// Returns the parameters as JSON with another value of the member `name`.
    fn with(&self, name: &str, value: &str) -> String {
        let others = self.iter().filter(|(member, _)| *member != name);
        let others = others.map(|(name, value)| (name, value.get()));
        to_object(others.chain([(name, value)]))
    }

    /// Checks the parameters of a request or notification.
    ///
    /// # Errors
    /// The name, the progress token or the metadata that is too long.
    pub(super) fn check_params(&self) -> Result<(), ErrorData> {
        let reference = Self(self.inside("ref"));
        let argument = Self(self.inside("argument"));
        let context = Self(self.inside("context"));
        self.check_name("name")
            .and_then(|()| reference.check_name("ref.name"))
            .and_then(|()| argument.check_name("argument.name"))
            .and_then(|()| self.check_argument_names(ARGUMENTS))
            .and_then(|()| context.check_argument_names("context.arguments"))
            .and_then(|()| Self(self.inside("_meta")).check_metadata())
            .map_err(|problem| ErrorData::invalid_params(problem, None))
    }

    /// Checks the text of the member `name`. `path` says where it is.
    fn check_name(&self, path: &str) -> Result<(), String> {
        let mut names = self.iter().filter(|(member, _)| *member == "name");
        names.try_for_each(|(_, value)| check_text(&format!("`params.{path}`"), value, MAX_NAME_BYTES))
    }

    /// Checks the names of the arguments in the last member of `path`.
    fn check_argument_names(&self, path: &str) -> Result<(), String> {
        let arguments = self.inside(ARGUMENTS);
        let mut names = arguments.iter().map(|(name, _)| &*name.0);
        names.try_for_each(|name| check_length(&format!("a name in `params.{path}`"), name, MAX_NAME_BYTES))
    }

    /// Checks the metadata that is kept.
    fn check_metadata(&self) -> Result<(), String> {
        let tokens = self.iter().filter(|(name, _)| *name == "progressToken");
        for (_, token) in tokens {
            check_text("`params._meta.progressToken`", token, MAX_ID_BYTES)?;
        }

        let known = self.iter().filter(|(name, _)| is_known_metadata(name));
        let length: usize = known.map(|(name, value)| name.len() + value.get().len()).sum();
        if length > MAX_META_BYTES {
            return Err(format!("`params._meta` has {length} bytes, and the limit is {MAX_META_BYTES}"));
        }
        Ok(())
    }

    /// Returns the parameters as JSON without unknown metadata, or `None` if there is none.
    pub(super) fn without_unknown_metadata(&self) -> Option<String> {
        let mut metadata = self.inside("_meta");
        let number = metadata.len();
        metadata.retain(|(name, _)| is_known_metadata(&name.0));
        if metadata.len() == number {
            return None;
        }

        let metadata = to_object(Self(metadata).iter().map(|(name, value)| (name, value.get())));
        let others = self.iter().filter(|(name, _)| *name != "_meta");
        let others = others.map(|(name, value)| (name, value.get()));
        Some(to_object(others.chain([("_meta", metadata.as_str())])))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// Returns whether something reads this member of `_meta`.
fn is_known_metadata(name: &str) -> bool {
    KNOWN_META.contains(&name) || name.starts_with(PROTOCOL_META)
}

/// Returns an object with these members, whose values are JSON.
pub(super) fn to_object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let members: Vec<_> = members.map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// Checks the length of a text, or of a number, which may have any number of digits.
pub(super) fn check_text(what: &str, value: &RawValue, max_bytes: usize) -> Result<(), String> {
    match serde_json::from_str::<Text<'_>>(value.get()) {
        Ok(text) => check_length(what, &text.0, max_bytes),
        Err(_) => check_length(what, value.get(), max_bytes),
    }
}

fn check_length(what: &str, text: &str, max_bytes: usize) -> Result<(), String> {
    if text.len() <= max_bytes {
        return Ok(());
    }
    let beginning = single_line(first_characters(text, QUOTED_CHARS));
    Err(format!("{what} is too long: `{beginning}…` has {} bytes, and the limit is {max_bytes}", text.len()))
}
