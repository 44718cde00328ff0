//! The methods of the server, and why the library could not decode a request: it treats a known method with malformed parameters
//! as an unknown method.

use rmcp::{
    ErrorData,
    model::{
        CallToolRequestMethod, CallToolRequestParams, CancelTaskMethod, CancelTaskParams,
        CompleteRequestMethod, CompleteRequestParams, ConstString, CustomRequest, DiscoverRequestMethod,
        DiscoverRequestParams, ErrorCode, GetPromptRequestMethod, GetPromptRequestParams,
        GetSkillRequestMethod, GetSkillRequestParams, GetTaskMethod, GetTaskParams, ListPromptsRequestMethod,
        ListResourceTemplatesRequestMethod, ListResourcesRequestMethod, ListSkillsRequestMethod,
        ListToolsRequestMethod, PaginatedRequestParams, ReadResourceRequestMethod, ReadResourceRequestParams,
        SubscribeRequestMethod, SubscribeRequestParams, SubscriptionsListenRequestMethod,
        SubscriptionsListenRequestParams, UnsubscribeRequestMethod, UnsubscribeRequestParams,
        UpdateTaskMethod, UpdateTaskParams,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::text::shorten_line;

/// Methods without parameters.
const WITHOUT_PARAMETERS: [&str; 2] = ["initialize", "ping"];

/// Longest reason in a message, in characters. A reason can quote a value of the host.
const MAX_REASON_CHARACTERS: usize = 200;

/// A method that takes parameters.
struct Method {
    name: &'static str,
    needs: Needs,
    /// Returns which parameter cannot be decoded, and why.
    problem: fn(Value) -> Option<String>,
}

/// What a method depends on. Without it, the server does not have the method.
#[derive(Clone, Copy)]
enum Needs {
    Nothing,
    /// A revision before 2026-07-28.
    OlderRevision,
    /// A call that can become a task.
    Tasks,
}

/// The methods that take parameters.
const METHODS: [Method; 17] = [
    method::<CallToolRequestMethod, CallToolRequestParams>(Needs::Nothing),
    method::<ListToolsRequestMethod, PaginatedRequestParams>(Needs::Nothing),
    method::<ListResourcesRequestMethod, PaginatedRequestParams>(Needs::Nothing),
    method::<ListResourceTemplatesRequestMethod, PaginatedRequestParams>(Needs::Nothing),
    method::<ReadResourceRequestMethod, ReadResourceRequestParams>(Needs::Nothing),
    method::<SubscribeRequestMethod, SubscribeRequestParams>(Needs::OlderRevision),
    method::<UnsubscribeRequestMethod, UnsubscribeRequestParams>(Needs::OlderRevision),
    method::<ListPromptsRequestMethod, PaginatedRequestParams>(Needs::Nothing),
    method::<GetPromptRequestMethod, GetPromptRequestParams>(Needs::Nothing),
    method::<CompleteRequestMethod, CompleteRequestParams>(Needs::Nothing),
    method::<ListSkillsRequestMethod, PaginatedRequestParams>(Needs::Nothing),
    method::<GetSkillRequestMethod, GetSkillRequestParams>(Needs::Nothing),
    method::<SubscriptionsListenRequestMethod, SubscriptionsListenRequestParams>(Needs::Nothing),
    method::<DiscoverRequestMethod, DiscoverRequestParams>(Needs::Nothing),
    method::<GetTaskMethod, GetTaskParams>(Needs::Tasks),
    method::<UpdateTaskMethod, UpdateTaskParams>(Needs::Tasks),
    method::<CancelTaskMethod, CancelTaskParams>(Needs::Tasks),
];

const fn method<M: ConstString, P: DeserializeOwned>(needs: Needs) -> Method {
    let problem = |params| {
        let decoded: Result<P, _> = serde_path_to_error::deserialize(params);
        decoded.err().map(|problem| problem.to_string())
    };
    Method { name: M::VALUE, needs, problem }
}

/// Returns the name of a method that this server has.
pub fn known_method(name: &str) -> Option<&'static str> {
    let with_parameters = METHODS.iter().map(|method| method.name);
    WITHOUT_PARAMETERS.into_iter().chain(with_parameters).find(|known| *known == name)
}

/// Returns the error for a request that the library could not decode.
pub(super) fn undecodable(request: CustomRequest, is_stateless: bool, has_tasks: bool) -> ErrorData {
    let CustomRequest { method: name, params, .. } = request;
    let method = METHODS.iter().find(|method| method.name == name).filter(|method| match method.needs {
        Needs::Nothing => true,
        Needs::OlderRevision => !is_stateless,
        Needs::Tasks => has_tasks,
    });
    let Some(method) = method else {
        return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method `{name}`"), None);
    };

    let problem = (method.problem)(params.unwrap_or_else(|| json!({})));
    let reason = problem.map(|problem| shorten_line(&problem, MAX_REASON_CHARACTERS));
    let reason = reason.as_deref().unwrap_or("they cannot be decoded");

    ErrorData::invalid_params(format!("invalid params for `{name}`: {reason}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, params: Option<Value>) -> String {
        undecodable(CustomRequest::new(name, params), false, false).message.into_owned()
    }

    #[test]
    fn the_reason_is_named_of_a_request_that_cannot_be_decoded() {
        let long = "x".repeat(1_000);
        let cases = [
            ("skills/get", None, "invalid params for `skills/get`: missing field `uri`"),
            (
                "resources/subscribe",
                Some(json!({"uri": 5})),
                "invalid params for `resources/subscribe`: uri: invalid type: number, expected a string",
            ),
            (
                "tools/list",
                Some(json!({"_meta": 5})),
                "invalid params for `tools/list`: _meta: invalid type: number, expected a map",
            ),
            ("no/such", None, "unknown method `no/such`"),
            ("tasks/get", None, "unknown method `tasks/get`"),
        ];

        for (name, params, expected) in cases {
            assert_eq!(message(name, params), expected);
        }
        let cut = message("tools/call", Some(json!({"name": "get_run", "arguments": long})));
        assert!(cut.chars().count() < 300 && cut.ends_with('…'), "{cut}");
    }
}
