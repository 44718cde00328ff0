//! Names, descriptions and input schemas of tools, as a model reads them.

use bpe_openai::o200k_base;
use rmcp::model::ListToolsResult;
use serde_json::{Value, json};
use tas_mcp::{
    fields::Fields,
    mcp::published_tool,
    service::{schema::OR_TYPE, tool::ToolDefinition},
    tools::{
        catalog::{self, Tool},
        selection::Selection,
    },
};

use crate::support::{listed_tool, schema::Validator};

/// Keywords that an input schema may use.
const KEYWORDS: [&str; 14] = [
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "default",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
];

/// Returns the arguments of a tool as hosts receive them.
fn published(tool: &ToolDefinition) -> Fields {
    let all = Selection::parse("all", false).expect("words");
    published_tool(tool, true, &all).input_schema.as_ref().clone()
}

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
        walk(entry.name, &Value::Object(published(&entry)), visit);
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
        let schema = published(&entry);
        assert_eq!(schema["type"], "object", "{}", entry.name);
        assert!(schema["properties"].is_object(), "{}", entry.name);
        Validator::new(&Value::Object(schema));
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
            assert!(Validator::new(schema).is_valid(default), "{place}: {default}");
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

        assert!(!Value::Object(published(&entry)).to_string().contains("\"x-"), "{}", entry.name);
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
            let short = name == "id" || name == "ci";
            assert!(is_name(name) || short, "{place}.{name}");
        }
    });
}

#[test]
fn descriptions_are_short() {
    for entry in catalog::tools() {
        let description = entry.description().to_string();
        let length = description.chars().count();
        assert!((20..600).contains(&length), "{}: {length}", entry.name);
        let first = description.split(['.', '\n']).next().unwrap_or_default();
        assert!(first.chars().count() < 160, "{}: {first}", entry.name);
        assert!(entry.input_schema().get("description").is_none(), "{}: said twice", entry.name);
    }
    visit_arguments(&mut |place, schema| {
        let Some(text) = schema.get("description") else { return };
        let length = text.as_str().unwrap().chars().count();
        assert!((5..160).contains(&length), "{place}: {length}");
    });
}

/// Returns the tokens of the published tools of a selection: of name, description and input schema.
fn tokens(selection: &Selection, is_global: bool) -> usize {
    let cost = |tool: Tool| {
        let tool = published_tool(tool.info, is_global, selection);
        let schema = serde_json::to_string(&tool.input_schema).expect("JSON");
        let text = format!("{}{}{schema}", tool.name, tool.description.expect("a description"));
        o200k_base().count(text.as_str())
    };

    selection.tools().map(cost).sum()
}

#[test]
fn each_selection_keeps_its_budget_of_tools_and_tokens_in_both_scopes() {
    for (words, most_tools, most_tokens) in
        [("lean", 14, 2_700), ("default", 40, 7_900), ("all", usize::MAX, 12_000)]
    {
        let count = Selection::parse(words, false).expect("words").tools().count();
        assert!(count <= most_tools, "{words}: {count} tools");

        let local = Selection::parse(words, false).expect("words");
        let remote = local.clone().without_local_files();
        // Over HTTP, the three steps of an upload take the place of one tool.
        let steps = 400;
        let selections =
            [(&local, false, 0), (&local, true, 0), (&remote, false, steps), (&remote, true, steps)];
        for (selection, is_global, more) in selections {
            let most_tokens = most_tokens + more;
            let tokens = tokens(selection, is_global);
            assert!(tokens <= most_tokens, "{words}, global scope {is_global}: {tokens} tokens");
        }
    }
}

#[test]
fn the_default_list_fits_into_a_line_that_every_client_reads() {
    let selection = Selection::parse("default", false).expect("words");
    let tools: Vec<_> = selection.tools().map(|tool| published_tool(tool.info, true, &selection)).collect();
    let line = serde_json::to_string(&ListToolsResult::with_all_items(tools)).expect("JSON");
    // The default limit of Python's `asyncio` is 64 KiB.
    assert!(line.len() <= 60_000, "{} bytes", line.len());
}

#[test]
fn every_argument_has_a_description() {
    for entry in catalog::tools() {
        let tool = listed_tool(entry, true);

        for (name, argument) in tool["inputSchema"]["properties"].as_object().expect("arguments") {
            assert!(argument["description"].is_string(), "{}.{name}", entry.name);
        }
    }
}

#[test]
fn object_arguments_publish_their_fields() {
    for (tool, fields) in [
        ("start_run.options", &["mobile_gpslocation", "performance_monitoring"][..]),
        ("start_run.player_deployment_configs", &["*.build_id", "*.deployment_config_id"]),
        ("start_test_plan_run.slot_deployment_configs", &["*.build_id"]),
        ("create_test.test", &["name", "max_seconds", "players_by_key"]),
        ("update_test.patch", &["name", "tags", "player_order", "players_by_key"]),
        ("update_shared_step.patch", &["name", "steps_by_key", "step_order"]),
        ("create_shared_step.steps_by_key", &["*.goal", "*.expected_results"]),
        ("update_test_plan.patch", &["name", "test_items"]),
        ("upload_build.details", &["vcs", "ci", "app", "build", "upload"]),
    ] {
        let (name, argument) = tool.split_once('.').expect("a tool and an argument");
        let schema = Value::Object(published(&catalog::find_tool(name).expect("a tool")));
        let mut places = Vec::new();
        walk(name, &schema, &mut |place, _| places.push(place.to_owned()));
        for field in fields {
            let place = format!("{name}.{argument}.{field}");
            assert!(places.contains(&place), "{place}: {places:?}");
        }
    }
}

#[test]
fn fields_below_those_of_an_object_argument_are_named_in_words() {
    for (tool, argument, field, words) in [
        (
            "create_test",
            "test",
            "players_by_key",
            "{name, agent_config_id, items_by_key {type, collection_id, goal, expected_results, \
             screenshots, pause_game, performance_monitoring, hint_manual}, item_order}.",
        ),
        ("update_test_plan", "patch", "test_items", "{multiplayer_test_id, retries}."),
        ("upload_build", "details", "app", "{version, version_code, build_number, bundle_id}."),
    ] {
        let schema = Value::Object(published(&catalog::find_tool(tool).expect("a tool")));
        let field = &schema["properties"][argument]["properties"][field];

        assert_eq!(field["description"], words, "{tool}.{argument}");
        assert!(field.get("properties").is_none(), "{field}");
        assert!(field.get("items").is_none_or(|items| *items == json!({"type": "object"})), "{field}");
    }
}

#[test]
fn descriptions_state_limits_and_defaults() {
    let mut stated = 0;
    visit_arguments(&mut |place, schema| {
        let text = schema["description"].as_str().unwrap_or_default();
        // The description of a list states the limits of its entries.
        let limits = ["maximum", "maxLength", "maxItems", "default"].map(|keyword| &schema[keyword]);

        for limit in limits.into_iter().filter(|limit| !limit.is_null() && !place.ends_with('*')) {
            let word = limit.as_str().map_or_else(|| limit.to_string(), str::to_owned);
            assert!(text.contains(&word), "{place}: {limit}: {text}");
            stated += 1;
        }
    });

    assert!(stated >= 42, "{stated}");
}

#[test]
fn descriptions_state_all_choices() {
    let mut stated = 0;
    visit_arguments(&mut |place, schema| {
        // Of a field of an object, the schema alone states them.
        let choices = schema
            .get("enum")
            .filter(|_| place.matches('.').count() == 1)
            .or_else(|| schema.get("items")?.get("enum"));
        let text = schema["description"].as_str().unwrap_or_default();
        // The description of a list states the choices of its entries.
        let choices = choices.and_then(Value::as_array).filter(|_| !place.ends_with('*'));

        for choice in choices.into_iter().flatten() {
            assert!(text.contains(choice.as_str().expect("a word")), "{place}: {choice}: {text}");
            stated += 1;
        }
    });

    assert!(stated >= 85, "{stated}");
}

#[test]
fn rules_refer_to_arguments() {
    for entry in catalog::tools() {
        for rule in entry.rules {
            for name in rule.names() {
                assert!(entry.input_schema()["properties"].get(name).is_some(), "{}: {name}", entry.name);
            }
        }
    }
}
