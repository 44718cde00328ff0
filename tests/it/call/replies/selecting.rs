//! Selection of fields with `fields`, and the reference to the next page.

use serde_json::{Value, json};
use tas_mcp::{call::reply::FieldSelection, sandbox::seed, tools::catalog};

use crate::support::{
    fixture::{Fixture, Session},
    listed_tool,
};

#[test]
fn every_tool_that_reads_takes_fields_and_no_other_does() {
    for entry in catalog::tools() {
        let tool = listed_tool(entry, true);
        let offered = tool["inputSchema"]["properties"]["fields"].is_object();
        assert_eq!(offered, entry.effect.is_read_only(), "{}", entry.name);
    }
}

#[tokio::test]
async fn only_selected_fields_are_returned_in_the_order_of_the_service() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let complete = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let fields = ["test.name", "players.steps.run_result", "result", "truncated", "next", "left_out"];
    let reply = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED, "fields": fields})).await;
    let steps = |run: &Value| {
        let steps = run["players"][0]["steps"].as_array().expect("steps");
        steps.iter().map(|step| json!({"run_result": step["run_result"]})).collect::<Vec<_>>()
    };
    let names: Vec<_> = reply.as_object().expect("an object").keys().collect();

    assert_eq!(names, ["result", "test", "players"]);
    assert_eq!(reply["result"], complete["result"]);
    assert_eq!(reply["test"], json!({"name": complete["test"]["name"]}));
    assert_eq!(reply["players"][0], json!({"steps": steps(&complete)}));
}

#[tokio::test]
async fn names_of_record_fields_may_omit_the_list_and_paging_is_kept() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    for names in [json!(["name"]), json!(["data.name"]), json!("name"), json!("[\"data.name\"]")] {
        let page = host.succeed("list_tests", json!({"page_size": 2, "fields": names})).await;
        let records = page["data"].as_array().expect("records");
        assert!(records.len() == 2 && records.iter().all(|one| one["name"].is_string()), "{page}");
        assert!(records.iter().all(|one| one.as_object().is_some_and(|one| one.len() == 1)), "{page}");
        assert_eq!(page["pagination"]["page_size"], 2);
    }
}

#[tokio::test]
async fn names_may_omit_the_list_for_every_tool_that_answers_with_one() {
    let mut count = 0;
    for tool in catalog::tools().filter(|tool| tool.takes_fields()) {
        let schema = &tool.output_schema()["properties"];
        let Some(known) = schema["data"]["items"]["properties"].as_object() else { continue };
        let names = known.keys().filter(|name| schema.get(name.as_str()).is_none());
        let mut answer = json!({"data": [{}, {}]});
        let names: Vec<_> = names.cloned().collect();

        for (record, name) in names.iter().flat_map(|name| [(0, name), (1, name)]) {
            answer["data"][record][name] = json!(format!("{name} {record}"));
        }

        let complete = answer.clone();
        FieldSelection::parse(&tool, &names).expect("names").apply(&mut answer);

        assert_eq!(answer, complete, "{}", tool.name);

        count += 1;
    }

    assert!(count > 10, "{count}");

    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let page = host.succeed("list_run_bugs", json!({"run_id": seed::RUN_FAILED, "fields": ["title"]})).await;

    assert!(page["data"][0]["title"].is_string(), "{page}");
}

#[tokio::test]
async fn names_that_the_tool_does_not_know_are_refused_before_the_call() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let fields = ["result", "test.nmae", "nothing.at.all"];
    let found = host.violations("get_run", json!({"run_id": seed::RUN_FAILED, "fields": fields})).await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("fields.1: ") && found[0].contains("`name`"), "{found:?}");
    assert!(found[1].starts_with("fields.2: ") && found[1].contains("`players`"), "{found:?}");

    let found = host.violations("list_tests", json!({"fields": ["nmae"]})).await;
    assert!(found[0].contains("the nearest is `name`"), "{found:?}");
    // A tree of this depth would overflow the stack when it is dropped.
    let deep = host.violations("list_tests", json!({"fields": ["name", "a.".repeat(30_000) + "a"]})).await;
    assert!(deep[0].starts_with("fields.1: must have at most"), "{deep:?}");
    let many = host.violations("list_tests", json!({"fields": vec!["name"; 101]})).await;
    assert_eq!(many, ["fields: must have at most 100 names"]);
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn id_selects_the_id_of_a_run() {
    let mut session = Fixture::new().open().await;
    let page = session.host.succeed("list_runs", json!({"page_size": 1, "fields": "id"})).await;

    assert!(page["data"][0]["multiplayer_run_id"].is_string(), "{page}");
}

#[tokio::test]
async fn invalid_names_are_refused_together_with_other_violations() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let arguments = json!({"fields": ["name", "", "a..b"], "page_size": 0});
    let found = host.violations("list_tests", arguments).await;
    let paths: Vec<_> = found.iter().filter_map(|one| one.split(':').next()).collect();

    assert_eq!(paths, ["fields.1", "fields.2", "page_size"], "{found:?}");

    let found = host.violations("list_tests", json!({"fields": {"name": true}})).await;

    assert_eq!(found, ["fields: must be a list of names"]);

    let found = host.violations("stop_runs", json!({"job_ids": [seed::JOB_QUEUED], "fields": ["ok"]})).await;

    assert!(found.len() == 1 && found[0].starts_with("fields: "), "{found:?}");
    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn every_page_but_the_last_names_the_next_page() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let (mut page, mut count) = (0, 0);

    loop {
        let reply = host.succeed("list_tests", json!({"page": page, "page_size": 3, "fields": ["id"]})).await;
        count += reply["data"].as_array().expect("records").len();

        let total = reply["pagination"]["total_pages"].as_u64().expect("pages");
        let Some(next) = reply.get("next") else {
            assert_eq!(count as u64, reply["pagination"]["total_count"].as_u64().expect("records"));
            break;
        };

        assert_eq!(*next, json!({"page": page + 1, "remaining_pages": total - page - 1}));

        page += 1;
    }

    assert!(page > 1, "{page}");
}

#[tokio::test]
async fn a_picture_is_delivered_only_if_its_field_is_selected() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (fields, is_delivered) in
        [(json!(["players.current_step"]), false), (json!(["players.screenshot"]), true)]
    {
        let arguments = json!({"run_id": seed::RUN_RUNNING, "fields": fields});
        let result = host.call("get_live_run", arguments).await;
        let content = result["content"].as_array().expect("content");
        let found = content.iter().any(|block| block["type"] == "image");
        assert_eq!(found, is_delivered, "{fields}: {} blocks", content.len());
    }
}

#[tokio::test]
async fn lists_are_brief_unless_fields_are_selected_and_say_what_they_lack() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (tool, longest, shown, lacking) in [
        ("list_runs", 6_000, "device", "players"),
        ("list_jobs", 5_000, "platform", "retries"),
        ("list_builds", 2_000, "pinned", "file_size"),
        ("list_tests", 2_000, "folder_path", "folder_id"),
        ("list_bugs", 2_000, "severity", "description"),
    ] {
        let brief = host.succeed(tool, json!({})).await;
        let length = brief.to_string().chars().count();
        assert!(length <= longest && brief.get("truncated").is_none(), "{tool}: {length}");
        assert!(!brief["data"][0][shown].is_null() && brief["data"][0][lacking].is_null(), "{tool}: {brief}");
        assert!(brief["left_out"].as_str().expect("a text").contains(lacking), "{tool}: {brief}");

        let whole = host.succeed(tool, json!({"fields": "*", "page_size": 5})).await;
        assert!(!whole["data"][0][lacking].is_null() && whole["left_out"].is_null(), "{tool}: {whole}");
    }
}

#[tokio::test]
async fn a_list_that_is_cut_continues_without_a_gap() {
    let Session { service: _service, mut host, .. } = Fixture::new().all_tools().open().await;
    let all = host.succeed("list_runs", json!({"page_size": 100, "fields": "id"})).await;
    let (mut read, mut arguments) = (Vec::new(), json!({"fields": "*"}));

    loop {
        let page = host.succeed("list_runs", arguments.clone()).await;
        for run in page["data"].as_array().expect("runs") {
            let id = json!({"multiplayer_run_id": run["multiplayer_run_id"]});
            if !read.contains(&id) {
                read.push(id);
            }
        }
        let Some(next) = page.get("next") else { break };
        arguments["page"] = next["page"].clone();
        if let Some(size) = next.get("page_size") {
            arguments["page_size"] = size.clone();
        }
    }

    assert_eq!(all["data"], json!(read));
}

#[tokio::test]
async fn every_tool_names_fields_of_its_own_as_an_example() {
    for tool in catalog::tools().filter(|tool| tool.takes_fields()) {
        let listed = listed_tool(tool, false);
        let description = listed["inputSchema"]["properties"]["fields"]["description"].as_str();
        let example = description.and_then(|text| text.split("e.g. ").nth(1)).expect("an example");
        let names: Vec<_> = example.trim_end_matches('.').split(',').map(str::to_owned).collect();
        FieldSelection::parse(&tool, &names).unwrap_or_else(|broken| panic!("{}: {broken:?}", tool.name));
    }
}
