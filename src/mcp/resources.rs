//! Records of the service as resources, so that people can attach them.
//!
//! A resource is the answer of a tool: the same call with the same project and limits. A template is the pattern of the
//! URIs of one tool. Every resource can be read with its tool, too.

use percent_encoding::{percent_decode_str, utf8_percent_encode};
use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, ErrorCode, ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{callers::ToolRunner, revision::CacheableResult as _, server::McpConfig};
use crate::{
    call::{
        CommonArguments, ToolArguments,
        reply::{self, ReplySource},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{bugs, files, jobs, plans, runs, shared_steps},
        operation::placeholder,
        record_kind::ResultKind,
        request::RESERVED,
        tool::PROJECT_ID,
    },
    text::quoted_argument,
    tools::{
        catalog::{ListedTool as _, ToolReference},
        selection::Selection,
    },
};

/// Start of the URI of every record.
const ROOT: &str = "tas://projects/";

/// Name of the variable that all templates have.
pub(super) const PROJECT_VARIABLE: &str = "project";

/// Media type of every resource.
const MIME_TYPE: &str = "application/json";

pub(super) fn list_templates(selection: &Selection) -> Vec<ResourceTemplate> {
    let published = |template: &RecordTemplate| {
        ResourceTemplate::new(template.uri_template(), template.name)
            .with_title(template.title)
            .with_description(template.description())
            .with_mime_type(MIME_TYPE)
    };

    offered_templates(selection).map(published).collect()
}

/// Returns the resources whose URI needs no id. In global scope there are none, because every URI names a project.
///
/// Hosts read the list when they start. A request to the service, for the ids of records, would delay or fail the start.
pub(super) fn list(config: &McpConfig) -> Vec<Resource> {
    let Some(project) = &config.project else { return Vec::new() };
    // A project id may contain characters that have a meaning in URIs.
    let project = utf8_percent_encode(project, RESERVED);

    let published = |template: &RecordTemplate| {
        Resource::new(format!("{ROOT}{project}/{}", template.path), template.name)
            .with_title(template.title)
            .with_description(template.description())
            .with_mime_type(MIME_TYPE)
    };
    let without_id = offered_templates(&config.selection).filter(|template| template.variables.is_empty());

    without_id.map(published).collect()
}

pub(super) fn offered_templates(selection: &Selection) -> impl Iterator<Item = &'static RecordTemplate> {
    TEMPLATES.iter().filter(|template| template.is_offered(selection))
}

/// Reads a resource with a call of its tool.
///
/// # Errors
/// The failure of the tool, or `RESOURCE_NOT_FOUND` if no offered template has this URI.
pub(super) async fn read(
    uri: &str,
    config: &McpConfig,
    runner: &ToolRunner,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let record = find(uri, &config.selection)?;
    let tool = (record.template.tool)();

    let common = CommonArguments::in_project(Some(&record.project));
    let reply = runner.run(tool, ToolArguments::new(record.arguments, common), context).await;
    let reply = reply.map_err(|failure| read_error(uri, failure, config))?;

    let (_, text) = reply.into_limited(config.max_reply_chars, ReplySource::Resource(tool.info));
    let contents = ResourceContents::text(text, uri).with_mime_type(MIME_TYPE);
    let result = ReadResourceResult::new(vec![contents]);

    // Records change, and only the owner of the key may read them.
    Ok(result.for_request(context, 0, CacheScope::Private))
}

/// The record that a URI names.
#[derive(Debug)]
struct RecordUri {
    template: &'static RecordTemplate,
    project: String,
    /// The arguments of the operation, without the project.
    arguments: Fields,
}

/// Finds the record of a URI.
///
/// # Errors
/// `RESOURCE_NOT_FOUND`, with the valid templates, if no offered template has this URI.
fn find(uri: &str, selection: &Selection) -> Result<RecordUri, ErrorData> {
    let offered = parse(uri).and_then(|record| {
        if record.template.is_offered(selection) {
            return Ok(record);
        }

        let tool = (record.template.tool)().name;
        Err(format!("the setting TAS_TOOLSETS excludes its tool `{tool}`"))
    });

    offered.map_err(|reason| {
        let uri = quoted_argument(uri);
        let valid: Vec<_> = offered_templates(selection).map(RecordTemplate::uri_template).collect();
        let message = format!("no resource `{uri}`: {reason}; valid: {}", valid.join(", "));

        ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, message, Some(json!({"uri": uri, "valid": valid})))
    })
}

/// Parses a URI.
///
/// # Errors
/// Why the URI is not valid, as a clause of an error message.
fn parse(uri: &str) -> Result<RecordUri, String> {
    let rest = uri.strip_prefix(ROOT).ok_or_else(|| format!("it does not begin with {ROOT}"))?;
    if rest.contains(['?', '#']) {
        return Err("it must have no query and no fragment; write `?` as %3F and `#` as %23".to_owned());
    }

    // The URI is split before it is decoded, so that no value can add a segment.
    let segments = rest.split('/').map(decode_segment).collect::<Result<Vec<_>, _>>()?;
    let (project, path) = segments.split_first().ok_or("it names no project")?;

    let found = TEMPLATES.iter().find_map(|template| Some((template, template.arguments(path)?)));
    let (template, arguments) = found.ok_or("no template has this path")?;

    Ok(RecordUri { template, project: project.clone(), arguments })
}

fn decode_segment(segment: &str) -> Result<String, String> {
    let is_escape = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !segment.split('%').skip(1).all(is_escape) {
        return Err("a `%` is not followed by two hexadecimal digits; write it as %25".to_owned());
    }

    let decoded = percent_decode_str(segment).decode_utf8();
    decoded.map(String::from).map_err(|_| "its percent-encoded text is not UTF-8".to_owned())
}

/// Returns the protocol error for a resource that could not be read. Hosts show only the message, so that it contains
/// the hint.
pub(super) fn read_error(uri: &str, failure: Failure, config: &McpConfig) -> ErrorData {
    let failure = with_uri_hint(failure).for_caller(&*config.selection);
    let failure = reply::limit_failure(failure, config.max_reply_chars);

    let code = match failure.code {
        Code::NotFound | Code::ProjectNotResolved => ErrorCode::RESOURCE_NOT_FOUND,
        Code::InvalidArguments | Code::ProjectRequired | Code::ProjectScopeMismatch => {
            ErrorCode::INVALID_PARAMS
        }
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let message = format!("{failure}; {}", failure.hint);

    ErrorData::new(code, message, Some(json!({"uri": quoted_argument(uri), "error": failure})))
}

/// Replaces a hint about arguments by a hint about the URI.
fn with_uri_hint(failure: Failure) -> Failure {
    match failure.code {
        Code::ProjectNotResolved => failure.hint("check the id and the project in the URI"),
        Code::ProjectScopeMismatch => {
            let owner = failure.facts.owning_project.as_deref().unwrap_or_default();
            let hint = format!("use the project `{owner}` in the URI");
            failure.hint(hint)
        }
        _ => failure,
    }
}

/// A resource template: a URI pattern and the operation that answers for it.
#[derive(Debug)]
pub(super) struct RecordTemplate {
    /// Path below the project, with variables in braces.
    path: &'static str,
    name: &'static str,
    title: &'static str,
    /// The content of the resource, as a sentence.
    summary: &'static str,
    tool: ToolReference,
    /// The variables of [`Self::path`].
    variables: &'static [TemplateVariable],
}

/// A variable of a resource template.
#[derive(Debug)]
struct TemplateVariable {
    name: &'static str,
    /// Argument of the operation.
    argument: &'static str,
}

impl RecordTemplate {
    /// Returns the URI template (RFC 6570).
    pub(super) fn uri_template(&self) -> String {
        format!("{ROOT}{{{PROJECT_VARIABLE}}}/{}", self.path)
    }

    /// Returns the argument that a variable stands for; `None` if the template has no such variable.
    pub(super) fn argument_of(&self, variable: &str) -> Option<&'static str> {
        if variable == PROJECT_VARIABLE {
            return Some(PROJECT_ID);
        }
        self.variable(variable).map(|variable| variable.argument)
    }

    fn variable(&self, name: &str) -> Option<&'static TemplateVariable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    fn description(&self) -> String {
        format!("{} The same as the result of `{}`.", self.summary, (self.tool)().name)
    }

    fn is_offered(&self, selection: &Selection) -> bool {
        selection.offers((self.tool)().info)
    }

    /// Returns the arguments if the template matches `path`. The values are not checked: the call checks them.
    fn arguments(&self, path: &[String]) -> Option<Fields> {
        let expected: Vec<_> = self.path.split('/').collect();
        if expected.len() != path.len() {
            return None;
        }

        let mut arguments = Fields::new();
        for (expected, segment) in expected.into_iter().zip(path) {
            match placeholder(expected).and_then(|name| self.variable(name)) {
                Some(variable) => {
                    arguments.insert(variable.argument.to_owned(), Value::from(segment.as_str()));
                }
                None if expected == segment => {}
                None => return None,
            }
        }

        Some(arguments)
    }
}

/// The resource templates, in the order in which hosts list them.
static TEMPLATES: [RecordTemplate; 10] = [
    RecordTemplate {
        path: "runs/{run}",
        name: "run",
        title: "Run",
        summary: "A test run in full: result, players, steps.",
        tool: runs::GetRun::tool,
        variables: &[variable("run", ResultKind::Run.argument())],
    },
    RecordTemplate {
        path: "jobs/{job}",
        name: "job",
        title: "Job",
        summary: "A started test: its status and its runs, one for each attempt.",
        tool: jobs::GetJob::tool,
        variables: &[variable("job", ResultKind::Job.argument())],
    },
    RecordTemplate {
        path: "executions/{execution}",
        name: "execution",
        title: "Plan execution",
        summary: "A started test plan: its status and the number of tests by outcome.",
        tool: jobs::GetTestPlanExecution::tool,
        variables: &[variable("execution", ResultKind::Execution.argument())],
    },
    RecordTemplate {
        path: "bugs/{bug}",
        name: "bug",
        title: "Reviewed bug",
        summary: "A reviewed bug with every occurrence.",
        tool: bugs::GetBug::tool,
        variables: &[variable("bug", "bug_id")],
    },
    RecordTemplate {
        path: "test-plans/{id}",
        name: "test_plan",
        title: "Test plan",
        summary: "A test plan: its tests and deployment slots.",
        tool: plans::GetTestPlan::tool,
        variables: &[variable("id", "test_plan_id")],
    },
    RecordTemplate {
        path: "shared-steps/{id}",
        name: "shared_steps",
        title: "Shared steps",
        summary: "A shared step collection: its steps and version.",
        tool: shared_steps::GetSharedStep::tool,
        variables: &[variable("id", "shared_step_id")],
    },
    RecordTemplate {
        path: "knowledge",
        name: "knowledge",
        title: "Knowledge files",
        summary: "The knowledge files that agents read.",
        tool: files::ListKnowledgeFiles::tool,
        variables: &[],
    },
    RecordTemplate {
        path: "knowledge/project",
        name: "project_knowledge",
        title: "Knowledge files of the project",
        summary: "The knowledge files for every run of the project.",
        tool: files::ListProjectKnowledgeFiles::tool,
        variables: &[],
    },
    RecordTemplate {
        path: "knowledge/agent/{agent_id}",
        name: "agent_knowledge",
        title: "Knowledge files of an agent",
        summary: "The knowledge files for runs with one agent.",
        tool: files::ListAgentKnowledgeFiles::tool,
        variables: &[variable("agent_id", "agent_id")],
    },
    RecordTemplate {
        path: "knowledge/test_case/{test_case_id}",
        name: "test_case_knowledge",
        title: "Knowledge files of a test",
        summary: "The knowledge files for runs of one test.",
        tool: files::ListTestCaseKnowledgeFiles::tool,
        variables: &[variable("test_case_id", "test_case_id")],
    },
];

const fn variable(name: &'static str, argument: &'static str) -> TemplateVariable {
    TemplateVariable { name, argument }
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

    use super::parse;
    use crate::random_inputs::{check_texts, text};

    #[test]
    fn a_uri_is_split_into_template_project_and_arguments() {
        let cases = [
            ("tas://projects/demo/runs/r1", "run", "demo", r#"{"run_id":"r1"}"#),
            ("tas://projects/a%2Fb/bugs/x%20y", "bug", "a/b", r#"{"bug_id":"x y"}"#),
            ("tas://projects/demo/knowledge", "knowledge", "demo", "{}"),
            ("tas://projects/demo/runs/", "run", "demo", r#"{"run_id":""}"#),
        ];

        for (uri, name, project, arguments) in cases {
            let record = parse(uri).expect("a valid URI");
            assert_eq!((record.template.name, record.project.as_str()), (name, project), "{uri}");
            assert_eq!(serde_json::to_string(&record.arguments).expect("JSON"), arguments, "{uri}");
        }
    }

    #[test]
    fn an_invalid_uri_is_refused_with_a_reason() {
        let cases = [
            ("http://projects/demo/runs/r1", "does not begin with tas://projects/"),
            ("tas://projects/demo/runs/r1?x=1", "no query"),
            ("tas://projects/demo/runs/100%", "hexadecimal"),
            ("tas://projects/demo/runs/%FF", "UTF-8"),
            ("tas://projects/demo/runs/r1/steps", "no template"),
        ];

        for (uri, reason) in cases {
            let error = parse(uri).expect_err("an invalid URI");
            assert!(error.contains(reason), "{uri}: {error}");
        }
    }

    #[test]
    fn any_uri_is_parsed_or_refused() {
        check_texts(&(text(), text(), text()), |(uri, project, id)| {
            drop(parse(&uri));
            drop(parse(&format!("tas://projects/{project}/runs/{id}")));
        });
    }

    #[test]
    fn a_percent_encoded_id_arrives_unchanged() {
        check_texts(&text(), |id| {
            let encoded = utf8_percent_encode(&id, NON_ALPHANUMERIC);
            let record = parse(&format!("tas://projects/demo/runs/{encoded}")).expect("a valid URI");
            assert_eq!(record.arguments["run_id"], id.as_str());
        });
    }
}
