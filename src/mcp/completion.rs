//! Completion of what a person types: ids for the variables of resource templates and the arguments of prompts.
//!
//! The values are those on the first page of the list of one project, because a person waits for them at every keystroke.
//! A list that cannot be read has no values, because hosts show an error at every keystroke.

use std::time::Duration;

use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference},
};
use serde_json::Value;
use tokio::time::timeout;

use super::{
    callers::Callers,
    resources::{self, PROJECT_VARIABLE},
    server::McpConfig,
    skills,
};
use crate::{
    call::{
        CommonArguments, ToolArguments,
        paging::{Page, page_arguments},
    },
    failure::{Code, Failure},
    fields::{Fields, text_at},
    service::{
        record_kind::{RecordKind, ResultKind},
        request::check_id,
        tool::PROJECT_ID,
    },
    text::{composed, quoted_argument},
};

/// Time limit of reading a list. Later values are useless, because the person has continued to type.
const READ_LIMIT: Duration = Duration::from_secs(3);

/// The values of one argument.
#[derive(Debug, Default)]
struct Values {
    /// Each value, and the name that people know it by.
    named: Vec<(String, String)>,
    /// Whether the service has more records than were read.
    has_more: bool,
}

/// Returns the values for what was typed.
///
/// # Errors
/// Invalid parameters if there is no such prompt, template, argument or variable.
pub(super) async fn complete(
    request: CompleteRequestParams,
    config: &McpConfig,
    callers: &dyn Callers,
) -> Result<CompleteResult, ErrorData> {
    let argument = find_argument(&request.r#ref, &request.argument.name, config)?;
    let entered = |name: &str| {
        let value = request.context.as_ref()?.get_argument(name)?;
        (!value.is_empty()).then_some(value.as_str())
    };
    let project = entered(PROJECT_VARIABLE).or_else(|| entered(PROJECT_ID));

    let reading = async {
        if argument == PROJECT_ID { Ok(projects(callers)) } else { read(argument, project, callers).await }
    };
    let late = |_| Failure::new(Code::Timeout, format!("no list within {} s", READ_LIMIT.as_secs()));
    let values = timeout(READ_LIMIT, reading).await.map_err(late).flatten().unwrap_or_else(|failure| {
        tracing::warn!(argument, code = ?failure.code, "no values to complete with: {failure}");
        Values::default()
    });

    let matches = find_matches(&values.named, &request.argument.value);
    let shown: Vec<_> =
        matches.iter().take(CompletionInfo::MAX_VALUES).map(|&value| value.to_owned()).collect();
    let has_more = values.has_more || shown.len() < matches.len();
    // The number of matches among records that were not read is unknown.
    let total = if values.has_more { None } else { u32::try_from(matches.len()).ok() };

    let info = CompletionInfo::with_pagination(shown, total, has_more);
    info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
}

/// Returns the argument of an operation that an argument of a prompt or a variable of a template stands for.
fn find_argument(reference: &Reference, name: &str, config: &McpConfig) -> Result<&'static str, ErrorData> {
    let (place, found) = match reference {
        Reference::Resource(template) => {
            let mut offered = resources::offered_templates(&config.selection);
            let found = offered.find(|offered| offered.uri_template() == template.uri);
            (&template.uri, found.map(|template| template.argument_of(name)))
        }
        Reference::Prompt(prompt) => (
            &prompt.name,
            skills::prompt_arguments(&prompt.name, config)
                .map(|names| names.into_iter().find(|known| *known == name)),
        ),
        _ => return Err(ErrorData::invalid_params("unknown kind of reference", None)),
    };

    let place = quoted_argument(place);
    let missing = match found {
        Some(Some(argument)) => return Ok(argument),
        Some(None) => format!("`{place}` has no argument `{}`", quoted_argument(name)),
        None => format!("no prompt or template `{place}`"),
    };
    Err(ErrorData::invalid_params(missing, None))
}

/// Returns the kind of the records whose ids an argument takes.
fn kind_of(argument: &str) -> Option<RecordKind> {
    match argument {
        "run_id" => Some(RecordKind::Result(ResultKind::Run)),
        "job_id" => Some(RecordKind::Result(ResultKind::Job)),
        "bug_id" => Some(RecordKind::Bug),
        "test_plan_id" => Some(RecordKind::TestPlan),
        "test_plan_execution_id" | "compare_with" => Some(RecordKind::Result(ResultKind::Execution)),
        "shared_step_id" => Some(RecordKind::SharedStep),
        "agent_id" => Some(RecordKind::AgentConfig),
        "test_id" | "test_case_id" => Some(RecordKind::Test),
        "build_id" => Some(RecordKind::Build),
        "deployment_config_id" => Some(RecordKind::DeploymentConfig),
        _ => None,
    }
}

fn projects(callers: &dyn Callers) -> Values {
    let named = callers.known_projects().into_iter().map(|project| (project, String::new())).collect();
    Values { named, has_more: false }
}

/// Reads the values of an argument. Without `project`, the list is that of the project of the settings, of the project of the
/// key, or of the only known project.
async fn read(argument: &str, project: Option<&str>, callers: &dyn Callers) -> Result<Values, Failure> {
    let Some(kind) = kind_of(argument) else { return Ok(Values::default()) };
    let list = kind.list();
    let arguments =
        ToolArguments::new(page_arguments(&Fields::new(), 0), CommonArguments::in_project(project));
    let caller = callers.choose(list, &arguments).await?;
    let page = Page::parse(list.name, caller.call(list, arguments).await?.into_value())?;

    let read = page.records.len() as u64;
    let has_more = page.total_records.is_some_and(|total| total > read);
    let named = page.records.iter().filter_map(|record| named_value(kind, record)).collect();
    Ok(Values { named, has_more })
}

/// Returns the id and the name of a record. Returns `None` if it has no usable id.
fn named_value(kind: RecordKind, record: &Value) -> Option<(String, String)> {
    let id = text_at(record, kind.id_field()).filter(|id| check_id(id).is_ok())?;
    let name = kind.names(record).first().copied().unwrap_or_default();

    Some((id.to_owned(), name.to_owned()))
}

/// Returns the values that match `typed`. Those that begin with it come before those with a name that contains it.
fn find_matches<'a>(named: &'a [(String, String)], typed: &str) -> Vec<&'a str> {
    let folded = |text: &str| composed(text).to_lowercase();
    let typed = folded(typed.trim());
    let (begin, others): (Vec<_>, Vec<_>) =
        named.iter().partition(|(value, _)| value.to_lowercase().starts_with(&typed));
    let with_name = others.into_iter().filter(|(_, name)| folded(name).contains(&typed));

    begin.into_iter().chain(with_name).map(|(value, _)| value.as_str()).collect()
}
