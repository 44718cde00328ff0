//! The list of all tools: the operations of the service, followed by the composite tools.

use std::ops::Deref;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{
    call::{CheckedArguments, Reply, reply::FieldSelection},
    failure::{Code, Failure},
    service::{
        api,
        catalog::{ListedOperation, OperationEntry, for_each_operation},
        tool::{Extension, ToolDefinition},
    },
    text::most_similar,
    tools::{
        composite::{
            CompositeTool, DescribeRecord, DownloadRunFiles, FindByName, RerunResults, SummarizeResults,
            UploadBuild, WaitForCompletion,
        },
        context::{ToolCall, ToolContext},
        extensions, newest,
        plan_tests::ChangePlanTests,
    },
};

/// A tool: its definition, and how it runs. Dereferences to the definition.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// What hosts see.
    pub info: &'static ToolDefinition,
    /// Makes a call.
    pub run: fn(ToolCall) -> BoxFuture<'static, Result<Reply, Failure>>,
}

/// A tool in a table that is a constant.
pub type ToolReference = fn() -> Tool;

/// A type that stands for a tool: the arguments of an operation or of a composite tool.
pub trait ListedTool {
    /// The tool.
    fn tool() -> Tool;
}

impl<O: ListedOperation> ListedTool for O {
    fn tool() -> Tool {
        Tool { info: &O::entry().tool, run: |call| Box::pin(run_operation(O::entry(), call)) }
    }
}

macro_rules! list_operations {
    ($($resource:ident::$operation:ident,)*) => {
        /// The operations as tools, in the order in which hosts list them.
        const OPERATIONS: &[ToolReference] = &[$(<api::$resource::$operation as ListedTool>::tool),*];
    };
}
for_each_operation!(list_operations);

macro_rules! list_composite_tools {
    ($(#[$doc:meta])* $list:ident: $($tool:ty),* $(,)?) => {
        $(#[$doc])*
        const $list: &[ToolReference] = &[$(<$tool>::tool),*];

        $(impl ListedTool for $tool {
            fn tool() -> Tool {
                static DEFINITION: ToolDefinition =
                    ToolDefinition::new::<$tool, <$tool as CompositeTool>::Answer>(<$tool as CompositeTool>::TOOL);

                Tool { info: &DEFINITION, run: |call| Box::pin(run_composite::<$tool>(call)) }
            }
        })*
    };
}
list_composite_tools!(
    /// The composite tools, in the order in which hosts list them.
    COMPOSITE_TOOLS: FindByName,
    DescribeRecord,
    UploadBuild,
    WaitForCompletion,
    SummarizeResults,
    RerunResults,
    ChangePlanTests,
    DownloadRunFiles,
);

/// Returns all tools, in the order in which hosts list them.
pub fn tools() -> impl Iterator<Item = Tool> {
    OPERATIONS.iter().chain(COMPOSITE_TOOLS).map(|tool| tool())
}

/// Returns the tool with the name `name`.
pub fn find_tool(name: &str) -> Option<Tool> {
    tools().find(|tool| tool.name == name)
}

/// Returns the name of the tool that is most similar to `name`.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    most_similar(name, tools().map(|tool| tool.name))
}

impl Deref for Tool {
    type Target = ToolDefinition;

    fn deref(&self) -> &ToolDefinition {
        self.info
    }
}

/// Makes a call of an operation.
async fn run_operation(entry: &'static OperationEntry, call: ToolCall) -> Result<Reply, Failure> {
    let ToolCall { caller, arguments, options, .. } = call;
    match entry.extension {
        Some(Extension::EveryFolder) => extensions::list_tests(&caller, arguments, &options).await,
        Some(Extension::Newest) => newest::list_runs(&caller, arguments, &options).await,
        Some(Extension::NewestOccurrence) => extensions::list_bugs(&caller, arguments, &options).await,
        Some(Extension::PlayerFiles) => extensions::read_files(&caller, entry, arguments, &options).await,
        None => caller.call(entry, arguments).await,
    }
}

/// Runs a composite tool and returns its answer as a reply.
async fn run_composite<T: CompositeTool + ListedTool>(call: ToolCall) -> Result<Reply, Failure> {
    let (answer, selection) = typed_answer::<T>(call).await?;
    let answer = serde_json::to_value(answer)
        .map_err(|error| Failure::new(Code::InvalidArguments, format!("{}: {error}", T::NAME)))?;

    Ok(Reply::from_value(answer).with_fields(selection.as_ref()))
}

/// Checks the arguments of the composite tool `T` and runs it. Returns its whole answer, and the fields that the
/// arguments select.
pub async fn typed_answer<T: CompositeTool + ListedTool>(
    call: ToolCall,
) -> Result<(T::Answer, Option<FieldSelection>), Failure> {
    let ToolCall { caller, files, arguments, options } = call;
    let checked = caller.check(&T::tool(), arguments)?;
    let CheckedArguments { own, project_id: project, selection, is_confirmed, is_dry_run, .. } = checked;
    let tool = serde_json::from_value::<T>(Value::Object(own))
        .map_err(|error| Failure::new(Code::InvalidArguments, format!("{}: {error}", T::NAME)))?;
    let answer = tool.run(ToolContext { caller, files, project, is_confirmed, is_dry_run, options }).await?;

    Ok((answer, selection))
}
