//! What a caller asks for with `fields`, and how it finds the next page.

use serde_json::{Value, json};
use tas_mcp::{
    call::reply::Selection,
    mcp::published_tool,
    sandbox::{keys, seed},
    tools::catalog,
};

use crate::support::{host::Host, service::Service};

async fn open() -> (Service, Host) {
    let service = Service::start().await;
    let host = Host::open(&service.settings(keys::DEMO, &[("TAS_TOOLSETS", "all")])).await;
    (service, host)
}

#[test]
fn every_tool_that_reads_takes_fields_and_no_other_does() {
    for entry in catalog::tools() {
        let tool = serde_json::to_value(published_tool(entry.tool(), true)).expect("a tool is JSON");
        let offered = tool["inputSchema"]["properties"]["fields"].is_object();
        assert_eq!(offered, entry.effect.is_read_only(), "{}", entry.name);
    }
}

#[tokio::test]
async fn only_what_was_asked_for_comes_back_in_the_order_of_the_service() {
    let (_service, mut host) = open().await;
    let whole = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED})).await;
    let fields = ["test.name", "players.steps.run_result", "result"];
    let reply = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED, "fields": fields})).await;
    let steps = |run: &Value| {
        let steps = run["players"][0]["steps"].as_array().expect("steps");
        steps.iter().map(|step| json!({"run_result": step["run_result"]})).collect::<Vec<_>>()
    };
    let names: Vec<_> = reply.as_object().expect("an object").keys().collect();

    assert_eq!(names, ["result", "test", "players"]);
    assert_eq!(reply["result"], whole["result"]);
    assert_eq!(reply["test"], json!({"name": whole["test"]["name"]}));
    assert_eq!(reply["players"][0], json!({"steps": steps(&whole)}));
}

#[tokio::test]
async fn fields_of_records_may_leave_out_the_list_and_paging_stays() {
    let (_service, mut host) = open().await;
    for names in [json!(["name"]), json!(["data.name"]), json!("name"), json!("[\"data.name\"]")] {
        let page = host.succeed("list_tests", json!({"page_size": 2, "fields": names})).await;
        let records = page["data"].as_array().expect("records");
        assert!(records.len() == 2 && records.iter().all(|one| one["name"].is_string()), "{page}");
        assert!(records.iter().all(|one| one.as_object().is_some_and(|one| one.len() == 1)), "{page}");
        assert_eq!(page["pagination"]["page_size"], 2);
    }
}

#[tokio::test]
async fn the_list_may_be_left_out_wherever_an_answer_holds_one() {
    let mut seen = 0;
    for tool in catalog::tools().filter(|tool| tool.takes_fields()) {
        let schema = &tool.output_schema()["properties"];
        let Some(known) = schema["data"]["items"]["properties"].as_object() else { continue };
        let names = known.keys().filter(|name| schema.get(name.as_str()).is_none());
        let mut answer = json!({"data": [{}, {}]});
        let names: Vec<_> = names.cloned().collect();

        for (record, name) in names.iter().flat_map(|name| [(0, name), (1, name)]) {
            answer["data"][record][name] = json!(format!("{name} {record}"));
        }

        let whole = answer.clone();
        Selection::parse(&tool, &names).expect("names").apply(&mut answer);

        assert_eq!(answer, whole, "{}", tool.name);

        seen += 1;
    }

    assert!(seen > 10, "{seen}");

    let (_service, mut host) = open().await;
    let page = host.succeed("list_run_bugs", json!({"run_id": seed::RUN_FAILED, "fields": ["title"]})).await;

    assert!(page["data"][0]["title"].is_string() && page.get("fields_not_found").is_none(), "{page}");
}

#[tokio::test]
async fn a_name_that_is_not_there_is_said() {
    let (_service, mut host) = open().await;
    let fields = ["result", "test.nmae", "nothing.at.all"];
    let reply = host.succeed("get_run", json!({"run_id": seed::RUN_FAILED, "fields": fields})).await;
    assert_eq!(reply["fields_not_found"], json!(["test.nmae", "nothing"]));
    let page = host.succeed("list_tests", json!({"fields": ["nmae"]})).await;
    assert_eq!(page["fields_not_found"], json!(["data.nmae"]));
}

#[tokio::test]
async fn names_that_are_none_are_refused_together_with_what_else_is_wrong() {
    let (service, mut host) = open().await;
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
async fn a_page_says_how_to_get_the_next_one_until_there_is_none() {
    let (_service, mut host) = open().await;
    let (mut page, mut seen) = (0, 0);

    loop {
        let reply = host.succeed("list_tests", json!({"page": page, "page_size": 3, "fields": ["id"]})).await;
        seen += reply["data"].as_array().expect("records").len();

        let total = reply["pagination"]["total_pages"].as_u64().expect("pages");
        let Some(next) = reply.get("next") else {
            assert_eq!(seen as u64, reply["pagination"]["total_count"].as_u64().expect("records"));
            break;
        };

        assert_eq!(*next, json!({"page": page + 1, "remaining_pages": total - page - 1}));

        page += 1;
    }

    assert!(page > 1, "{page}");
}

#[tokio::test]
async fn a_picture_that_was_not_asked_for_is_not_delivered() {
    let (_service, mut host) = open().await;
    for (fields, shown) in [(json!(["players.current_step"]), false), (json!(["players.screenshot"]), true)] {
        let arguments = json!({"run_id": seed::RUN_RUNNING, "fields": fields});
        let result = host.call("get_live_run", arguments).await;
        let content = result["content"].as_array().expect("content");
        let found = content.iter().any(|block| block["type"] == "image");
        assert_eq!(found, shown, "{fields}: {} blocks", content.len());
    }
}
