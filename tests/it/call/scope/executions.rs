//! Plan executions of a service without the operation that reads one of them (service.md 5.2).

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::BOTH;
use crate::support::{
    fixture::{Fixture, Session},
    service::Service,
};

const TOOL: &str = "get_test_plan_execution";

fn execution(id: &str) -> Value {
    json!({"test_plan_execution_id": id})
}

/// Makes the service answer as if it did not have the operation.
async fn remove_operation(service: &Service, status: u16) {
    service.fault(json!({"operation": TOOL, "status": status, "times": 100})).await;
}

#[tokio::test]
async fn an_execution_is_read_from_the_list_if_the_operation_is_missing() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    let expected = host.succeed(TOOL, execution(seed::EXECUTION_COMPLETED)).await;

    for status in [404, 405] {
        remove_operation(&service, status).await;
        assert_eq!(host.succeed(TOOL, execution(seed::EXECUTION_COMPLETED)).await, expected);
    }

    let list_request = "GET /test-plan-executions?page=0&page_size=100 200";

    assert_eq!(service.requests().await.iter().filter(|request| *request == list_request).count(), 2);
}

#[tokio::test]
async fn the_list_is_read_page_by_page() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    remove_operation(&service, 404).await;

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
        let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
        remove_operation(&service, status).await;
        assert_eq!(host.fail(TOOL, execution("unknown")).await["code"], "not_found");
        let Session { service, mut host, .. } =
            Fixture::new().key(keys::ORGANIZATION).all_tools().variables(&[BOTH]).open().await;
        remove_operation(&service, status).await;
        let error = host.fail(TOOL, execution("unknown")).await;
        assert_eq!(error["code"], "project_not_resolved", "{error}");
        assert_eq!(error["details"]["asked"], json!(["demo", "arena"]));
    }
}

#[tokio::test]
async fn an_unreadable_list_does_not_prove_that_an_execution_is_missing() {
    let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
    for (status, code) in [(500, "service_unavailable"), (403, "permission_denied")] {
        service.fault(json!({"operation": TOOL, "status": 404})).await;
        service.fault(json!({"operation": "list_test_plan_executions", "status": status})).await;
        assert_eq!(host.fail(TOOL, execution(seed::EXECUTION_COMPLETED)).await["code"], code);
    }
}

#[tokio::test]
async fn the_owner_of_an_execution_is_found_in_the_lists() {
    let Session { service, mut host, .. } =
        Fixture::new().key(keys::ORGANIZATION).all_tools().variables(&[BOTH]).open().await;
    remove_operation(&service, 405).await;
    let found = host.succeed(TOOL, execution(seed::ARENA_EXECUTION)).await;
    assert_eq!(found["id"], seed::ARENA_EXECUTION);
}
