//! The OpenAPI document of the service: requests and answers of each operation. The document is independent of the code.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::Value;

mod answers;
mod samples;

pub(crate) use self::{
    answers::Answer,
    samples::{argument, is_comma_separated},
};

/// Prefix of every path of the main API.
const PREFIX: &str = "/api/v1";

/// Prefix of a path that names its project (service.md 1.1).
const IN_PROJECT: &str = "/project/{projectId}";

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../contract/service.openapi.json");
    serde_json::from_str(text).expect("the contract is JSON")
});

static CONTRACT: LazyLock<Contract> = LazyLock::new(Contract::read);

/// Every operation of the document.
pub(crate) struct Contract {
    operations: Vec<Operation>,
}

/// One operation of the document.
pub(crate) struct Operation {
    pub(crate) id: &'static str,
    /// In upper case.
    pub(crate) method: String,
    /// With placeholders, as the document writes it.
    pub(crate) path: &'static str,
    /// `x-permission`
    pub(crate) permission: &'static str,
    /// Parameters of path, query and header.
    pub(crate) parameters: Vec<&'static Value>,
    /// Schema of the JSON body, where there is one.
    pub(crate) body: Option<&'static Value>,
    requests: Named,
    answers: BTreeMap<u16, Answer>,
    /// Served by another host than the main API.
    pub(crate) elsewhere: bool,
}

/// Examples by name.
pub(crate) type Named = BTreeMap<&'static str, &'static Value>;

/// The examples that the document gives for an operation.
pub(crate) struct Examples {
    /// JSON bodies of requests.
    pub(crate) requests: Named,
    /// JSON bodies of answers by status.
    pub(crate) answers: BTreeMap<u16, Named>,
}

/// Returns the value, or the target of its `$ref`.
pub(crate) fn resolved(value: &'static Value) -> &'static Value {
    match value.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#')) {
        Some(pointer) => resolved(
            DOCUMENT.pointer(pointer).unwrap_or_else(|| panic!("`{pointer}` is not in the contract")),
        ),
        None => value,
    }
}

/// Returns a schema of the document as a complete schema, with the components as targets of its `$ref`s.
pub(crate) fn standalone(schema: &Value) -> Value {
    let mut schema = schema.clone();
    schema["components"] = DOCUMENT["components"].clone();
    schema
}

impl Contract {
    /// Returns the document, which is read once.
    pub(crate) fn load() -> &'static Self {
        &CONTRACT
    }

    /// Returns the violations of the document in an answer to `method` on `path_with_query`.
    pub(crate) fn violations(
        &self,
        method: &str,
        path_with_query: &str,
        status: u16,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Vec<String> {
        let path = path_with_query.split('?').next().unwrap_or_default();
        let broken = match self.find(method, path) {
            Some(operation) => match operation.answers.get(&status) {
                Some(answer) => answer.violations(content_type, body),
                None => vec!["the status is not documented".to_owned()],
            },
            None if matches!(status, 404 | 405) => Vec::new(),
            None => vec!["no such operation; it should answer 404 or 405".to_owned()],
        };

        broken.into_iter().map(|broken| format!("{method} {path} -> {status}: {broken}")).collect()
    }

    /// Returns the operation that serves `path`. A literal segment takes precedence over a placeholder.
    pub(crate) fn find(&self, method: &str, path: &str) -> Option<&Operation> {
        let (path, main) = path.strip_prefix(PREFIX).map_or((path, false), |path| (path, true));
        let serving = |path: &str| {
            let segments: Vec<_> = path.split('/').skip(1).collect();
            let mut serving: Vec<_> = self
                .operations
                .iter()
                .filter(|operation| operation.method == method && !(main && operation.elsewhere))
                .filter_map(|operation| Some((operation.placeholders(&segments)?, operation)))
                .collect();
            serving.sort_by(|one, other| one.0.cmp(&other.0));
            serving.first().map(|(_, operation)| *operation)
        };

        serving(path).or_else(|| serving(&format!("/project/any{path}")))
    }

    /// Returns the operation with this `operationId`.
    pub(crate) fn operation(&self, id: &str) -> &Operation {
        let found = self.operations.iter().find(|operation| operation.id == id);
        found.unwrap_or_else(|| panic!("`{id}` is not in the contract"))
    }

    /// Every operation.
    pub(crate) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    /// Returns the examples of the operation with this `operationId`.
    pub(crate) fn examples(&self, id: &str) -> Examples {
        let operation = self.operation(id);
        let answers = operation.answers.iter().map(|(status, answer)| (*status, answer.examples()));
        Examples { requests: operation.requests.clone(), answers: answers.collect() }
    }

    fn read() -> Self {
        const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

        let mut operations = Vec::new();
        for (path, item) in members(&DOCUMENT["paths"]) {
            for (method, operation) in members(item).filter(|(name, _)| METHODS.contains(name)) {
                operations.push(Operation::read(path, method, operation, item.get("servers").is_some()));
            }
        }

        Self { operations }
    }
}

impl Operation {
    fn read(path: &'static str, method: &str, operation: &'static Value, elsewhere: bool) -> Self {
        let text =
            |name: &str| operation[name].as_str().unwrap_or_else(|| panic!("{method} {path}: `{name}`"));
        let parameters = operation["parameters"].as_array().into_iter().flatten().map(resolved).collect();
        let request = operation.get("requestBody").map(|body| &resolved(body)["content"]["application/json"]);
        let answers = members(&operation["responses"]).map(|(status, answer)| {
            (status.parse().expect("statuses are numbers"), Answer::read(resolved(answer)))
        });

        Self {
            id: text("operationId"),
            method: method.to_uppercase(),
            path,
            permission: text("x-permission"),
            parameters,
            body: request.map(|request| resolved(&request["schema"])),
            requests: request.map(examples).unwrap_or_default(),
            answers: answers.collect(),
            elsewhere,
        }
    }

    /// The path without its project.
    pub(crate) fn path_in_project(&self) -> &'static str {
        self.path.strip_prefix(IN_PROJECT).unwrap_or(self.path)
    }

    /// Schemas of the answers with a status of success, by status.
    pub(crate) fn successes(&self) -> impl Iterator<Item = (u16, &Answer)> {
        self.answers
            .iter()
            .filter(|(status, _)| (200..300).contains(*status))
            .map(|(status, answer)| (*status, answer))
    }

    /// Returns which segments of the path are placeholders, if the path matches.
    fn placeholders(&self, segments: &[&str]) -> Option<Vec<bool>> {
        let template: Vec<_> = self.path.split('/').skip(1).collect();
        // The name of an artifact may hold subdirectories.
        let open_end = template.last() == Some(&"{filename}") && segments.len() > template.len();
        if template.len() != segments.len() && !open_end {
            return None;
        }

        let fits = |(name, segment): (&&str, &&str)| {
            let placeholder = name.starts_with('{');
            (if placeholder { !segment.is_empty() } else { name == segment }).then_some(placeholder)
        };

        template.iter().zip(segments).map(fits).collect()
    }
}

/// The members of an object.
pub(crate) fn members(object: &'static Value) -> impl Iterator<Item = (&'static str, &'static Value)> {
    object.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// The examples of a media type.
fn examples(media: &'static Value) -> Named {
    members(&media["examples"]).map(|(name, example)| (name, &resolved(example)["value"])).collect()
}
