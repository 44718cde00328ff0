//! A dry run of a call: everything is checked and read that the call needs, and its request is shown instead of sent.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::{Caller, PreparedCall, arguments::ToolArguments, reply::Reply, request::OperationRequest};
use crate::{
    failure::Failure,
    fields::Fields,
    service::{catalog::OperationEntry, tool::DRY_RUN},
    violation::Violation,
};

/// Argument with the changed fields of a record.
const PATCH: &str = "patch";

/// Argument with the version of the record that a change is based on.
const EXPECTED_VERSION: &str = "expected_version";

/// Field of a record with its version.
const VERSION: &str = "version";

/// A request that was not sent.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RequestPreview {
    /// HTTP method.
    pub method: String,
    /// Below the address of the service.
    pub path: String,
    /// Absent if the key decides.
    pub project_id: Option<String>,
    /// JSON body.
    pub body: Option<Value>,
}

/// A field of a record that a patch changes.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Change<'a> {
    /// Names and keys with dots between them.
    field: String,
    /// The current value; absent if there is none.
    from: Option<&'a Value>,
    to: &'a Value,
}

impl Caller {
    /// Returns the request of a call that is not sent.
    ///
    /// # Errors
    /// Every failure of the call before its request.
    pub async fn preview(
        &self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<RequestPreview, Failure> {
        let mut checked = self.check_call(entry, arguments)?;
        checked.warnings.clear();
        let call = self.prepare_call(entry, checked).await?;

        Ok(RequestPreview::new(&call.request, call.project.as_deref()))
    }

    /// Returns the reply to a dry run: the request, and for a patch what it changes in the current record.
    ///
    /// # Errors
    /// The failure of reading the current record.
    pub(super) async fn dry_run(&self, call: PreparedCall<'_>) -> Result<Reply, Failure> {
        let PreparedCall { request, sender, project, .. } = call;
        let mut reply = Fields::from_iter([
            (DRY_RUN.to_owned(), true.into()),
            ("request".to_owned(), json!(RequestPreview::new(&request, project.as_deref()))),
        ]);

        let current = self.read_current_record(&request, &sender, project.as_deref()).await?;
        let mut warnings = Vec::new();
        if let Some(current) = current {
            let mut changes = Vec::new();
            if let Some(patch) = request.arguments.get(PATCH) {
                add_changes("", Some(current.value()), patch, &mut changes);
            }
            reply.insert("changes".to_owned(), json!(changes));
            warnings.extend(stale_version(current.value(), &request.arguments));
        }

        Ok(Reply::from_value(Value::Object(reply)).with_project(project).with_warnings(&warnings))
    }
}

impl RequestPreview {
    fn new(request: &OperationRequest, project: Option<&str>) -> Self {
        let http = request.to_http(project);
        let body = http.body.and_then(|body| serde_json::from_slice(body).ok());

        Self {
            method: http.method.to_string(),
            path: http.path_and_query.clone(),
            project_id: project.map(str::to_owned),
            body,
        }
    }
}

/// Adds what a patch changes below `field`. The objects of a patch are merged at every depth, and all other values are
/// replaced (service.md 4.4).
fn add_changes<'a>(field: &str, current: Option<&'a Value>, patch: &'a Value, changes: &mut Vec<Change<'a>>) {
    let (Value::Object(patched), Some(Value::Object(fields))) = (patch, current) else {
        if current != Some(patch) {
            changes.push(Change { field: field.to_owned(), from: current, to: patch });
        }
        return;
    };

    for (name, value) in patched {
        let inner = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
        add_changes(&inner, fields.get(name), value, changes);
    }
}

/// Returns why the service would refuse the call: another writer has changed the record.
fn stale_version(current: &Value, arguments: &Fields) -> Option<Violation> {
    let (expected, version) = (arguments.get(EXPECTED_VERSION)?, current.get(VERSION)?);
    let rule =
        format!("is {expected}, but the record has version {version}: the service would refuse the call");

    (expected != version).then(|| Violation::new(EXPECTED_VERSION, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_changes_the_fields_whose_values_differ() {
        let current = json!({"name": "A", "tags": ["x"], "players": {"1": {"name": "P", "memory": null}}});
        for (patch, expected) in [
            (json!({}), json!([])),
            (json!({"name": "A"}), json!([])),
            (json!({"name": "B"}), json!([{"field": "name", "from": "A", "to": "B"}])),
            (json!({"tags": ["x", "y"]}), json!([{"field": "tags", "from": ["x"], "to": ["x", "y"]}])),
            (json!({"new": {"a": 1}}), json!([{"field": "new", "to": {"a": 1}}])),
            (
                json!({"players": {"1": {"name": "Q", "memory": null}, "2": {}}}),
                json!([
                    {"field": "players.1.name", "from": "P", "to": "Q"},
                    {"field": "players.2", "to": {}},
                ]),
            ),
        ] {
            let mut changes = Vec::new();
            add_changes("", Some(&current), &patch, &mut changes);

            assert_eq!(json!(changes), expected, "{patch}");
        }
    }
}
