//! A tool as `tools/list` shows it.
//!
//! The folder `tools/` shows every tool with the names of all tools in its texts. A test writes and compares the files.

use std::{panic::resume_unwind, sync::Arc, thread};

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::report_view;
use crate::{
    fields::Fields,
    service::{
        schema::{self, KNOWN, OF_FIELDS, OR_TYPE, properties},
        tool::{CONFIRM, DRY_RUN, FIELDS, PROJECT_ID, ToolDefinition},
    },
    text::guidance::{OfferedTools, for_caller},
};

/// Description of an argument whose value only tools that are not offered return.
const NO_SOURCE: &str = "Ask the person for it.";

/// Field of the metadata of a tool with words that the search of a host reads, beside its name and description.
const SEARCH_HINT: &str = "anthropic/searchHint";

/// Words with which people ask for what a tool does. Hosts show a model few tools, and let it search the others.
const SEARCH_HINTS: &[(&str, &str)] = &[
    ("cancel_build_upload", "stop, abort an upload that was begun"),
    ("create_test", "write, add, author, record a new test case or scenario"),
    ("create_test_folder", "new folder or directory for tests"),
    ("delete_build", "remove an old build, free storage"),
    ("delete_test", "remove a test case"),
    ("describe_record", "what is this id, show details of a test, plan, build, run or execution"),
    ("download_run_files", "save logs, videos, recordings, screenshots to disk"),
    ("export_tmsys_run", "send, publish, push, sync the results to the test management system"),
    ("find_by_name", "look up the id of a test, plan, build, device, phone by its name"),
    ("get_bug", "is this bug known, defect, crash, issue, how to reproduce, where was it seen"),
    ("get_build", "version, commit, branch of a build, who uploaded the build"),
    ("get_job", "state of one queued or running job, its runs and retries"),
    ("get_live_run", "watch a running test now, current step, live screen of the device"),
    ("get_minion_download", "install the local runner, minion, agent on my machine or PC"),
    (
        "get_run",
        "show me what happened in this run, the screenshot of the failing step, error, its log file, video of the run",
    ),
    ("get_run_artifact", "show me the screenshot of the failing step, picture, image, log, video"),
    ("get_shared_step", "what is in a reusable step"),
    ("get_test", "what does this test do, steps of a test case"),
    ("get_test_plan", "which tests are in a plan or suite"),
    ("get_test_plan_execution", "progress, status of a plan or nightly, how far is it"),
    ("list_agent_configs", "which AI agents or models can play"),
    ("list_bugs", "is this bug known, open issues, defects, crashes, most severe bugs"),
    ("list_builds", "latest build, newest app version, which builds exist"),
    ("list_deployment_configs", "what devices can I use, available phones, consoles, PCs, platforms"),
    ("list_jobs", "queue, waiting or queued jobs, what is running now"),
    ("list_knowledge_files", "documents, notes, knowledge that the agent reads"),
    ("list_run_artifacts", "files, screenshots, logs, recordings, videos of a run"),
    ("list_run_bugs", "bugs that were found in a run"),
    ("list_runs", "recent, last, latest, nightly, failed runs, what ran today, who started it"),
    ("list_shared_steps", "reusable common steps such as login"),
    ("list_test_folders", "folders, directories, tree of the tests"),
    ("list_test_plan_executions", "last nightly, history of a plan or suite, past executions"),
    ("list_test_plans", "suites, smoke, regression, which plans exist"),
    ("list_tests", "which test cases exist, scenarios of a folder"),
    ("rerun_results", "run the failed tests again, retry, repeat, rerun flaky or broken tests"),
    ("start_run", "run or start a test on a phone, device, console or PC, try these instructions"),
    ("start_test_plan_run", "run the smoke or regression suite, nightly, on several devices"),
    ("stop_runs", "cancel the running test, abort, kill, end a run that is queued"),
    (
        "summarize_results",
        "why did the nightly fail, which tests are flaky, failed, new or slow, which test is the slowest, what broke, compare this build with the last one, report, pass rate, regressions, history",
    ),
    ("update_shared_step", "change, edit a reusable step"),
    ("update_test", "change, edit, fix, rename a test case or its steps"),
    ("update_test_plan", "add or remove tests of a suite, change, rename a plan"),
    ("upload_build", "upload the new apk, ipa, exe, app, installer, game"),
    ("wait_for_completion", "wait until the run has finished, is it done yet, tell me when it ends"),
];

/// Names of fields that a caller of a tool may want alone, where they are not `id` and `name`.
const FIELD_EXAMPLES: &[(&str, &str)] = &[
    ("describe_record", "name,state"),
    ("find_by_name", "results.records.id"),
    ("get_bug", "title,occurrences.multiplayer_run_id"),
    ("get_build", "name,details.app"),
    ("get_build_upload_parts", "upload_urls"),
    ("get_job", "status,runs.result"),
    ("get_live_run", "state,players.current_step"),
    ("get_minion_download", "download_url"),
    ("get_run", "result,players.steps.report"),
    ("get_run_artifact", "text,next_offset"),
    ("get_shared_step", "name,version"),
    ("get_test", "name,version"),
    ("get_test_plan", "name,test_items"),
    ("get_test_plan_execution", "status,test_status"),
    ("list_agent_knowledge_files", "count,files.path"),
    ("list_bugs", "title,newest_occurrence"),
    ("list_builds", "id,name,created_at,pinned"),
    ("list_jobs", "job_id,build_id,runs.result"),
    ("list_knowledge_files", "count,sections.files.path"),
    ("list_project_knowledge_files", "count,files.path"),
    ("list_run_artifacts", "artifacts.filename"),
    ("list_run_bugs", "bug_id,title"),
    ("list_runs", "result,duration_ms,test.id"),
    ("list_test_case_knowledge_files", "count,files.path"),
    ("list_test_folders", "id,path"),
    ("list_test_plan_executions", "id,status,test_status"),
    ("list_tests", "name,last_run_at"),
    ("summarize_results", "verdicts,failures.artifacts"),
    ("wait_for_completion", "verdicts,items.result"),
];

/// Returns `tools` as hosts receive them, as [`published_tool`] does.
pub fn published_tools<'a>(
    tools: impl IntoIterator<Item = &'a ToolDefinition>,
    is_global: bool,
    offered: &dyn OfferedTools,
) -> Vec<Tool> {
    let tools: Vec<_> = tools.into_iter().collect();
    let publish_all = |tools: &[&ToolDefinition]| -> Vec<_> {
        let mut types = schema::answer_types();
        tools.iter().map(|tool| publish(tool, &mut types, is_global, offered)).collect()
    };

    // The schemas take most of the time of a start, which two threads halve. The last tools have the largest answers.
    let (first, others) = tools.split_at(tools.len() * 2 / 3);
    thread::scope(|scope| {
        let others = scope.spawn(|| publish_all(others));
        let mut published = publish_all(first);
        published.extend(others.join().unwrap_or_else(|panic| resume_unwind(panic)));
        published
    })
}

/// Returns a tool as hosts receive it. In global scope it also takes `project_id`. The descriptions name only the tools
/// that are `offered`.
pub fn published_tool(tool: &ToolDefinition, is_global: bool, offered: &dyn OfferedTools) -> Tool {
    publish(tool, &mut schema::answer_types(), is_global, offered)
}

fn publish(
    tool: &ToolDefinition,
    types: &mut SchemaGenerator,
    is_global: bool,
    offered: &dyn OfferedTools,
) -> Tool {
    let effect = tool.effect;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(effect.is_read_only())
        .destructive(effect.is_destructive())
        .idempotent(effect.is_idempotent())
        // Every tool depends on the service, which other people change, too.
        .open_world(true);
    let mut answer = tool.answer_schema(types, PUBLISHED_DEPTH);
    // The reply to a dry run has no field of the answer.
    if !tool.required_fields.is_empty() && !tool.takes_dry_run() {
        answer.insert("required".to_owned(), json!(tool.required_fields));
    }
    let mut input = input_schema(tool, is_global);
    input.values_mut().for_each(|value| name_offered_tools(value, offered));

    let description = plain(&tool.description().for_caller(offered).unwrap_or_default());
    let published = Tool::new(tool.name, description, Arc::new(input))
        .with_title(tool.title)
        .with_annotations(annotations);
    // Some hosts show a model the structure of a result alone, without the pictures and links beside it.
    let has_blocks = tool.has_pictures || tool.has_links;
    let published = if has_blocks { published } else { published.with_raw_output_schema(Arc::new(answer)) };

    let mut metadata = if tool.has_view { report_view::tool_metadata() } else { MetaObject::default() };
    if let Some((_, words)) = SEARCH_HINTS.iter().find(|(name, _)| *name == tool.name) {
        metadata.0.insert(SEARCH_HINT.to_owned(), json!(words));
    }
    if metadata.0.is_empty() { published } else { published.with_meta(metadata) }
}

/// Lets the descriptions of arguments name only the tools that are offered.
fn name_offered_tools(schema: &mut Value, offered: &dyn OfferedTools) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| name_offered_tools(schema, offered)),
        Value::Object(keywords) => {
            if let Some(Value::String(text)) = keywords.get_mut("description") {
                *text = plain(for_caller(text, offered).as_deref().unwrap_or(NO_SOURCE));
            }
            keywords.values_mut().for_each(|schema| name_offered_tools(schema, offered));
        }
        _ => {}
    }
}

/// Returns a text without backticks, which cost a token each. Most names have an underscore.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn fields_description(tool: &ToolDefinition) -> String {
    let example = FIELD_EXAMPLES.iter().find(|(name, _)| *name == tool.name);
    let example = example.map_or("id,name", |(_, names)| names);
    if tool.brief.is_some() || tool.only_if_selected.is_some() {
        format!("`*` (all) or names, e.g. `{example}`.")
    } else {
        format!("Only these, e.g. `{example}`.")
    }
}

/// Returns the schema of the arguments of a tool with the arguments that several tools share.
fn input_schema(tool: &ToolDefinition, is_global: bool) -> Fields {
    let mut schema = tool.input_schema().clone();
    // Those of the tool, and those of its object arguments.
    publish_fields(&mut schema, 2);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));

    if let Value::Object(properties) = properties {
        let mut add = |name: &str, kind: &str, description: &str| {
            properties.insert(name.to_owned(), json!({"description": description, "type": kind}));
        };
        if tool.confirmation_question.is_some() {
            add(CONFIRM, "boolean", "A person agreed, after confirmation_required.");
        }
        if tool.takes_dry_run() {
            add(DRY_RUN, "boolean", "Changes nothing.");
        }
        if tool.takes_fields() {
            add(FIELDS, "string", &fields_description(tool));
        }
        if is_global {
            add(PROJECT_ID, "string", "Project.");
        }
    }

    schema
}

/// Depth of the fields that hosts see, few of which show them to a model: those of an answer, and of the records of a page.
const PUBLISHED_DEPTH: usize = 1;

/// Keywords that only the check of arguments reads. Some hosts refuse `format` and `uniqueItems`.
const INTERNAL: [&str; 4] = [OR_TYPE, "deprecated", "format", "uniqueItems"];

/// Turns the schema of arguments into what hosts see: without the keywords that only the check of arguments reads, with the known
/// fields of objects that are sent unchanged, and without what is not worth its tokens: that an id or a list is not empty, that a
/// number is positive, and more than the names of fields below `levels` levels.
fn publish_fields(schema: &mut Fields, levels: usize) {
    if let Some(Value::Object(fields)) = schema.shift_remove(KNOWN) {
        schema.extend(fields);
    }
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    state_choices(schema);
    if levels == 0 && schema.get("type").is_some_and(|kind| kind != "string") {
        put_names_into_description(schema);
    }
    schema.retain(|keyword, value| match keyword.as_str() {
        "minItems" | "minLength" => value != 1,
        "minimum" => value.as_u64().is_none_or(|least| least > 1),
        "additionalProperties" => {
            is_object && levels > 0 && value.as_object().is_some_and(|others| !others.is_empty())
        }
        keyword if OF_FIELDS.contains(&keyword) => is_object && levels > 0,
        keyword => !INTERNAL.contains(&keyword),
    });
    // Tokenizers need fewer tokens in this order.
    if let Some(description) = schema.shift_remove("description") {
        schema.shift_insert(0, "description".to_owned(), description);
    }

    let fields = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    fields.filter_map(|(_, field)| field.as_object_mut()).for_each(|field| publish_fields(field, levels - 1));
    for keyword in ["items", "additionalProperties"] {
        if let Some(Value::Object(entries)) = schema.get_mut(keyword) {
            publish_fields(entries, levels);
        }
    }
}

/// Adds the names of the fields of an object, or of the objects of a list or map, to its description.
fn put_names_into_description(schema: &mut Fields) {
    let Some(names) = names(schema, 2) else { return };

    let description = schema.get("description").and_then(Value::as_str).map(|text| format!("{text} "));
    let description = format!("{}{names}.", description.unwrap_or_default());
    schema.insert("description".to_owned(), json!(description));
    if let Some(items) = schema.get_mut("items") {
        *items = json!({"type": "object"});
    }
}

/// Returns `{name, name}` for an object with known fields, or for its entries, with `levels` levels of fields.
fn names(schema: &Fields, levels: usize) -> Option<String> {
    let Some(fields) = properties(schema) else {
        let entries =
            [KNOWN, "items", "additionalProperties"].into_iter().find_map(|keyword| schema.get(keyword));
        return names(entries?.as_object()?, levels);
    };

    let shown = fields.iter().filter(|(_, field)| field.get("deprecated").is_none());
    let field = |(name, field): (&String, &Value)| {
        let below = field.as_object().filter(|_| levels > 1).and_then(|field| names(field, levels - 1));
        below.map_or_else(|| name.clone(), |below| format!("{name} {below}"))
    };
    Some(format!("{{{}}}", shown.map(field).collect::<Vec<_>>().join(", ")))
}

/// Puts the values of an enumeration, or of a list of them, before its description, because some hosts drop `enum`. A
/// description that explains each value stays as it is.
fn state_choices(object: &mut Fields) {
    let enumeration = object.get("enum").or_else(|| object.get("items")?.get("enum"));
    let words = enumeration.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<_> = words.map(str::to_owned).collect();

    if let Some(Value::String(text)) = object.get_mut("description")
        && let [others @ .., last] = words.as_slice()
        && !words.iter().all(|word| text.contains(&format!("`{word}`")))
    {
        *text = format!("{} or {last}. {text}", others.join(", "));
    }
}
