//! Names, descriptions and input schemas of tools, as a model reads them.

use serde_json::Value;
use tas_mcp::{
    mcp::published_tool,
    service::{
        schema::{HIDDEN, OR_TYPE, published},
        tool::{Tier, Tool},
    },
    tools::catalog::{self, ToolEntry},
};

/// Keywords that an input schema may use (`design.md` 5).
const KEYWORDS: [&str; 7] =
    ["type", "description", "properties", "required", "additionalProperties", "items", "enum"];

/// Bytes per token, times ten.
const BYTES_PER_TEN_TOKENS: usize = 41;

/// Maximum tokens of the tools together, as a host of one project sees them (`design.md` 5).
const CORE_TOKENS: usize = 7_000;
const ALL_TOKENS: usize = 11_000;

/// Calls `visit` on the schema and on every schema in it, with the place.
pub(super) fn walk(place: &str, schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    visit(place, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(&format!("{place}.{name}"), property, visit);
    }

    for inner in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get(inner).filter(|schema| schema.is_object()) {
            walk(&format!("{place}.*"), schema, visit);
        }
    }
}

/// Visits every schema in the arguments of every tool.
fn visit_arguments(visit: &mut dyn FnMut(&str, &Value)) {
    for entry in catalog::tools() {
        walk(entry.name, &Value::Object(published(entry.input_schema())), visit);
    }
}

fn is_name(name: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && (3..=40).contains(&name.len())
        && name.bytes().all(rest)
}

#[test]
fn input_schemas_are_objects() {
    for entry in catalog::tools() {
        let schema = published(entry.input_schema());
        assert_eq!(schema["type"], "object", "{}", entry.name);
        assert!(schema["properties"].is_object(), "{}", entry.name);
        assert!(jsonschema::meta::is_valid(&Value::Object(schema)), "{}", entry.name);
    }
}

#[test]
fn input_schemas_use_only_keywords_that_every_host_supports() {
    visit_arguments(&mut |place, schema| {
        for keyword in schema.as_object().expect("no schema is a boolean").keys() {
            assert!(KEYWORDS.contains(&keyword.as_str()), "{place}: {keyword}");
        }

        assert!(schema["type"].is_string(), "{place}: {schema}");
        if schema["type"] == "array" {
            assert!(schema["items"].is_object(), "{place}");
        }
        if let Some(words) = schema.get("enum") {
            assert!(words.as_array().is_some_and(|words| words.iter().all(Value::is_string)), "{place}");
        }
        assert!(schema.get("additionalProperties").is_none_or(Value::is_object), "{place}");
    });
}

#[test]
fn defaults_are_valid_values_of_their_argument() {
    let mut defaults = 0;
    for entry in catalog::tools() {
        walk(entry.name, &Value::Object(entry.input_schema().clone()), &mut |place, schema| {
            let Some(default) = schema.get("default") else { return };
            assert!(jsonschema::draft202012::is_valid(schema, default), "{place}: {default}");
            defaults += 1;
        });
    }

    assert!(defaults > 0);
}

#[test]
fn internal_keywords_are_not_published() {
    let mut internal = 0;
    for entry in catalog::tools() {
        internal += Value::Object(entry.input_schema().clone()).to_string().matches("\"x-").count();

        assert!(
            !Value::Object(published(entry.input_schema())).to_string().contains("\"x-"),
            "{}",
            entry.name
        );
        assert!(
            !Value::Object(entry.output_schema().as_ref().clone()).to_string().contains("\"x-"),
            "{}",
            entry.name
        );
    }

    assert!(internal > 0, "nothing uses {OR_TYPE}");
}

#[test]
fn names_are_words_in_snake_case() {
    for entry in catalog::tools() {
        assert!(is_name(entry.name), "{}", entry.name);
    }
    visit_arguments(&mut |place, schema| {
        for name in schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
            // The service defines these short names.
            let short = name == "id" || place.ends_with("mobile_gpslocation");
            assert!(is_name(name) || short, "{place}.{name}");
        }
    });
}

#[test]
fn descriptions_are_short() {
    for entry in catalog::tools() {
        let length = entry.description().chars().count();
        assert!((20..600).contains(&length), "{}: {length}", entry.name);
        let first = entry.description().split(['.', '\n']).next().unwrap_or_default();
        assert!(first.chars().count() < 160, "{}: {first}", entry.name);
        assert!(entry.input_schema().get("description").is_none(), "{}: said twice", entry.name);
    }
    visit_arguments(&mut |place, schema| {
        let Some(text) = schema.get("description") else { return };
        let length = text.as_str().unwrap().chars().count();
        assert!((5..160).contains(&length), "{place}: {length}");
    });
}

#[test]
fn tools_keep_the_token_budget() {
    let cost = |tool: ToolEntry| {
        let tool = published_tool(tool.tool(), false);
        let schema = serde_json::to_string(&tool.input_schema).unwrap();
        (tool.name.len() + tool.description.unwrap().len() + schema.len()) * 10 / BYTES_PER_TEN_TOKENS
    };
    let total = |wanted: &dyn Fn(&Tool) -> bool| {
        catalog::tools().filter(|tool| wanted(tool)).map(cost).sum::<usize>()
    };
    let (core, all) = (total(&|tool| tool.tier == Tier::Core), total(&|_| true));

    assert!(core <= CORE_TOKENS, "core: {core}");
    assert!(all <= ALL_TOKENS, "all: {all}");
}

#[test]
fn hidden_arguments_are_mentioned_in_a_description() {
    for tool in catalog::tools() {
        for (name, schema) in tool.input_schema()["properties"].as_object().unwrap() {
            if schema.get(HIDDEN).is_some() {
                let mentions = |name: &str| {
                    let forms = [format!("`{name}`"), format!("`{name}: ")];
                    forms.iter().any(|form| tool.description().contains(form))
                };
                let publishes =
                    |other: &ToolEntry| published(other.input_schema())["properties"].get(name).is_some();

                // The description may name another tool instead, which publishes the argument.
                let mut mentioned_tools = catalog::tools().filter(|other| mentions(other.name));
                assert!(
                    mentions(name) || mentioned_tools.any(|other| publishes(&other)),
                    "{}: {name}",
                    tool.name
                );
            }
        }
    }
}

#[test]
fn rules_refer_to_arguments() {
    for entry in catalog::tools() {
        for rule in entry.rules.iter().chain(entry.own_rules) {
            for name in rule.names() {
                assert!(entry.input_schema()["properties"].get(name).is_some(), "{}: {name}", entry.name);
            }
        }
    }
}
