//! The OpenAPI document of the service: requests and answers of each operation. The document is independent of the code.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, OnceLock},
};

use serde_json::Value;

use super::schema::Validator;

/// Prefix of every path of the main API.
const PREFIX: &str = "/api/v1";

const JSON: &str = "application/json";

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../contract/service.openapi.json");
    serde_json::from_str(text).expect("the contract is JSON")
});

/// Every operation of the document.
pub(crate) static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

    let mut operations = Vec::new();
    for (path, item) in members(&DOCUMENT["paths"]) {
        for (method, operation) in members(item).filter(|(name, _)| METHODS.contains(name)) {
            operations.push(Operation::read(path, method, operation, item.get("servers").is_some()));
        }
    }

    operations
});

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
    /// Examples of the body.
    pub(crate) requests: Examples,
    /// Answers by status.
    pub(crate) answers: BTreeMap<u16, Answer>,
    /// Served by another host than the main API.
    pub(crate) elsewhere: bool,
}

/// The answer of an operation with one status.
pub(crate) struct Answer {
    /// The content by its type, or null if there is no body.
    content: &'static Value,
    /// Whether the body may be missing although the document shows one.
    uncertain: bool,
    /// Of the JSON body; compiled at the first use.
    validator: OnceLock<Validator>,
}

/// Examples by name.
pub(crate) type Examples = BTreeMap<&'static str, &'static Value>;

/// Returns the operation with this `operationId`.
pub(crate) fn operation(id: &str) -> &'static Operation {
    let found = OPERATIONS.iter().find(|operation| operation.id == id);
    found.unwrap_or_else(|| panic!("`{id}` is not in the contract"))
}

/// Returns the operation that serves `path`. A literal segment takes precedence over a placeholder.
pub(crate) fn find(method: &str, path: &str) -> Option<&'static Operation> {
    let (path, main) = path.strip_prefix(PREFIX).map_or((path, false), |path| (path, true));
    let serving = |path: &str| {
        let segments: Vec<_> = path.split('/').skip(1).collect();
        let candidates = OPERATIONS.iter().filter(|one| one.method == method && !(main && one.elsewhere));
        let serving = candidates.filter_map(|one| Some((one.placeholders(&segments)?, one)));
        serving.min_by(|one, other| one.0.cmp(&other.0)).map(|(_, operation)| operation)
    };

    serving(path).or_else(|| serving(&format!("/project/any{path}")))
}

/// Returns the violations of the document in an answer to `method` on `path_with_query`.
pub(crate) fn violations(
    method: &str,
    path_with_query: &str,
    status: u16,
    content_type: Option<&str>,
    body: &[u8],
) -> Vec<String> {
    let path = path_with_query.split('?').next().unwrap_or_default();
    let broken = match find(method, path) {
        Some(operation) => match operation.answers.get(&status) {
            Some(answer) => answer.violations(content_type, body),
            None => vec!["the status is not documented".to_owned()],
        },
        None if matches!(status, 404 | 405) => Vec::new(),
        None => vec!["no such operation; it should answer 404 or 405".to_owned()],
    };

    broken.into_iter().map(|broken| format!("{method} {path} -> {status}: {broken}")).collect()
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

/// Compiles a schema of the document, with the components as targets of its `$ref`s.
pub(crate) fn validator(schema: &Value) -> Validator {
    let mut schema = schema.clone();
    schema["components"] = DOCUMENT["components"].clone();
    Validator::new(&schema)
}

/// The members of an object.
pub(crate) fn members(object: &'static Value) -> impl Iterator<Item = (&'static str, &'static Value)> {
    object.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// The examples of a media type.
fn examples(media: &'static Value) -> Examples {
    members(&media["examples"]).map(|(name, example)| (name, &resolved(example)["value"])).collect()
}

impl Operation {
    fn read(path: &'static str, method: &str, operation: &'static Value, elsewhere: bool) -> Self {
        let text =
            |name: &str| operation[name].as_str().unwrap_or_else(|| panic!("{method} {path}: `{name}`"));
        let parameters = operation["parameters"].as_array().into_iter().flatten().map(resolved).collect();
        let request = operation.get("requestBody").map(|body| &resolved(body)["content"][JSON]);
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

    /// The answers with a status of success, by status.
    pub(crate) fn successes(&self) -> impl Iterator<Item = (u16, &Answer)> {
        self.answers.range(200..300).map(|(status, answer)| (*status, answer))
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

impl Answer {
    fn read(answer: &'static Value) -> Self {
        Self {
            content: &answer["content"],
            uncertain: answer["x-uncertain"] == true,
            validator: OnceLock::new(),
        }
    }

    /// Returns the schema of the JSON body, if there is one.
    pub(crate) fn schema(&self) -> Option<&'static Value> {
        self.content.get(JSON).map(|media| &media["schema"])
    }

    /// Returns the examples of the JSON body.
    pub(crate) fn examples(&self) -> Examples {
        examples(&self.content[JSON])
    }

    fn violations(&self, content_type: Option<&str>, body: &[u8]) -> Vec<String> {
        if self.content.is_null() {
            let broken = (!body.is_empty()).then(|| "the document has no body here".to_owned());
            return broken.into_iter().collect();
        }
        if body.is_empty() && self.uncertain {
            return Vec::new();
        }

        let essence = content_type.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        match self.content.get(essence).map(|media| &media["schema"]) {
            // Raw bytes of any type.
            None if self.content.get("*/*").is_some() => Vec::new(),
            None => vec![format!("content type {content_type:?} is not documented")],
            Some(_) if essence != JSON => Vec::new(),
            Some(schema) => match serde_json::from_slice(body) {
                Ok(body) => self.validator.get_or_init(|| validator(schema)).violations(&body),
                Err(error) => vec![format!("the body is not JSON: {error}")],
            },
        }
    }
}
