//! Calls of operations for one project.

use serde_json::Value;

use crate::{
    call::{gateway::Gateway, reply::Reply},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog,
        tool::{CONFIRM, PROJECT_ID},
    },
};

/// The way to the operations of one project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectClient {
    pub(crate) gateway: Gateway,
    /// `None`: it follows from the settings or the key.
    pub(crate) project: Option<String>,
}

impl ProjectClient {
    /// Calls an operation that a person has agreed to, if it needs that.
    pub(crate) async fn ask(&self, operation: &str, mut arguments: Fields) -> Result<Reply, Failure> {
        let entry = catalog::find(operation)
            .ok_or_else(|| Failure::new(Code::NotFound, format!("there is no operation `{operation}`")))?;
        if let Some(project) = &self.project {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }
        if entry.confirm.is_some() {
            arguments.insert(CONFIRM.to_owned(), Value::Bool(true));
        }
        self.gateway.call(entry, arguments).await
    }
}
