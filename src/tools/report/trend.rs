//! The trend of a plan that is named by its id or by the id of one of its executions.

use super::subject::is_other_kind;
use crate::{
    call::gateway::Gateway,
    failure::{Code, Failure},
    service::result_kind::{ResultId, ResultKind},
    tools::{
        project_client::ProjectClient,
        summary::{Trend, TrendRequest},
        waiting::record::string_field,
    },
};

/// Reads the last `count` executions of the plan `id`, or of the plan of the execution `id`.
///
/// # Errors
/// `not_found` if no plan with started executions and no execution has the id, or a failure of the reading.
pub async fn read_trend(
    gateway: &Gateway,
    project: Option<&str>,
    id: &str,
    count: usize,
) -> Result<Trend, Failure> {
    let request = TrendRequest { test_plan_id: id.to_owned(), project: project.map(str::to_owned), count };
    let refusal = match request.run(gateway).await {
        // Only the id of an execution identifies the project.
        Err(failure) if is_other_kind(&failure) || failure.code == Code::ProjectRequired => failure,
        read => return read,
    };

    match find_plan(gateway, project, id, count).await {
        Ok(request) => request.run(gateway).await,
        Err(failure) if !is_other_kind(&failure) => Err(failure),
        // The id has not the form of the id of a plan.
        Err(_) if refusal.code == Code::InvalidArguments => Err(unknown_id(id)),
        Err(_) => Err(refusal),
    }
}

/// Returns the request for the trend of the plan of an execution.
async fn find_plan(
    gateway: &Gateway,
    project: Option<&str>,
    id: &str,
    count: usize,
) -> Result<TrendRequest, Failure> {
    let client = ProjectClient { gateway: gateway.clone(), project: project.map(str::to_owned) };
    let execution = client.read_result(&ResultId::new(ResultKind::Execution, id)).await?;

    let Some(test_plan_id) = string_field(execution.value(), "test_plan_id") else {
        let message = format!("the plan execution `{id}` has no test plan");
        return Err(Failure::new(Code::Rejected, message).hint("pass the id of a test plan"));
    };
    let project = project.or(execution.project()).map(str::to_owned);

    Ok(TrendRequest { test_plan_id, project, count })
}

fn unknown_id(id: &str) -> Failure {
    Failure::new(Code::NotFound, format!("no test plan or plan execution has the id `{id}`"))
        .hint("`list_test_plans` lists the test plans")
}
