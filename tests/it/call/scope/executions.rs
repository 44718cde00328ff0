//! Plan executions of a service that may not have the operation that reads one (supplement 5.2).

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::{BOTH, open};
use crate::support::service::Service;

const TOOL: &str = "get_test_plan_execution";
const ALL: (&str, &str) = ("TAS_TOOLSETS", "all");

fn execution(id: &str) -> Value {
    json!({"test_plan_execution_id": id})
}

/// Lets a service answer as one without the operation.
async fn lacks(service: &Service, status: u16) {
    service.fault(json!({"operation": TOOL, "status": status, "times": 100})).await;
}

#[tokio::test]
async fn an_execution_is_taken_from_the_list_where_the_operation_is_missing() {
    let (service, mut host) = open(keys::DEMO, &[ALL]).await;
    let direct = host.succeed(TOOL, execution(seed::EXECUTION_COMPLETED)).await;

    for status in [404, 405] {
        lacks(&service, status).await;
        assert_eq!(host.succeed(TOOL, execution(seed::EXECUTION_COMPLETED)).await, direct);
    }

    let walked = "GET /test-plan-executions?page=0&page_size=100 200";

    assert_eq!(service.requests().await.iter().filter(|request| *request == walked).count(), 2);
}

#[tokio::test]
async fn the_list_is_walked_page_by_page() {
    let (service, mut host) = open(keys::DEMO, &[ALL]).await;
    lacks(&service, 404).await;

    for page in 0..3 {
        let id = if page == 2 { "wanted" } else { "other" };
        let pagination = json!({"page": page, "page_size": 100, "total_count": 201, "total_pages": 3});
        let body = json!({"data": [{"id": id, "status": "completed"}], "pagination": pagination});
        service.fault(json!({"operation": "list_test_plan_executions", "body": body})).await;
    }

    assert_eq!(host.succeed(TOOL, execution("wanted")).await, json!({"id": "wanted", "status": "completed"}));

    let expected = [
        "GET /test-plan-executions/wanted 404",
        "GET /test-plan-executions?page=0&page_size=100 200",
        "GET /test-plan-executions?page=1&page_size=100 200",
        "GET /test-plan-executions?page=2&page_size=100 200",
    ];

    assert_eq!(service.requests().await, expected);
}

#[tokio::test]
async fn an_execution_that_is_not_in_the_list_is_not_found() {
    for status in [404, 405] {
        let (service, mut host) = open(keys::DEMO, &[ALL]).await;
        lacks(&service, status).await;
        assert_eq!(host.fail(TOOL, execution("unknown")).await["code"], "not_found");
        let (service, mut host) = open(keys::ORGANIZATION, &[ALL, BOTH]).await;
        lacks(&service, status).await;
        let error = host.fail(TOOL, execution("unknown")).await;
        assert_eq!(error["code"], "project_not_resolved", "{error}");
        assert_eq!(error["details"]["asked"], json!(["demo", "arena"]));
    }
}

#[tokio::test]
async fn a_list_that_cannot_be_read_proves_nothing() {
    let (service, mut host) = open(keys::DEMO, &[ALL]).await;
    for (status, code) in [(500, "service_unavailable"), (403, "permission_denied")] {
        service.fault(json!({"operation": TOOL, "status": 404})).await;
        service.fault(json!({"operation": "list_test_plan_executions", "status": status})).await;
        assert_eq!(host.fail(TOOL, execution(seed::EXECUTION_COMPLETED)).await["code"], code);
    }
}

#[tokio::test]
async fn the_owner_of_an_execution_is_found_in_the_lists() {
    let (service, mut host) = open(keys::ORGANIZATION, &[ALL, BOTH]).await;
    lacks(&service, 405).await;
    let found = host.succeed(TOOL, execution(seed::ARENA_EXECUTION)).await;
    assert_eq!(found["id"], seed::ARENA_EXECUTION);
}
