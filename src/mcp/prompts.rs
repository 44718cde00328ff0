//! Prompts for frequent jobs, for hosts that offer prompts as commands.
//!
//! The text of a prompt lists the exact calls that do the job, so that a model can follow it without further knowledge of the
//! tools. The sentences around the calls are those of a skill, if a skill does the same job. A prompt is listed if its tools
//! are offered, and names offered tools only.

mod texts;

use rmcp::{
    ErrorData,
    model::{self, GetPromptRequestParams, GetPromptResult, JsonObject, PromptArgument, PromptMessage, Role},
};
use serde_json::{Value, json};

use self::texts::{
    BUILD, COMPARED_WITH, DEVICE, EXECUTION, RUN, TEST, TEST_PLAN, export_results, keep_flaky_tests_down,
    nightly_report, release_smoke, test_this_build, triage_run, write_a_test,
};
use super::{
    config::McpConfig,
    skills::{EXPORT_RESULTS, KEEP_FLAKY_TESTS_DOWN, RELEASE_SMOKE, Skill, TRIAGE_RUN, WRITE_A_TEST},
    value_source::ValueSource,
};
use crate::{
    call::scope::other_project_refused,
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            configs::ListDeploymentConfigs,
            executions::ListTestPlanExecutions,
            exports::ExportTmsysRun,
            plans::ListTestPlans,
            runs::{GetRun, StartRun},
            tests::{CreateTest, GetTest, ListTests},
        },
        tool::PROJECT_ID,
    },
    text::{has_hidden, quoted_argument},
    tools::{
        catalog::{ListedTool as _, ToolReference},
        composite::{SummarizeResults, WaitForCompletion},
        selection::Selection,
    },
};

/// The argument that names the execution of a prompt.
pub(super) const EXECUTION_ARGUMENT: &str = EXECUTION;

/// Maximum length of a value, in characters. Ids are much shorter.
const MAX_VALUE_CHARS: usize = 200;

/// Maximum length of a name that an error message repeats, in characters.
const QUOTED_NAME_CHARS: usize = 80;

/// Maximum number of problems that an error message names. A request may have any number of unknown arguments.
const MAX_PROBLEMS: usize = 10;

/// A prompt.
pub(super) struct Prompt {
    name: &'static str,
    job: Job,
    /// Tools that must be offered.
    tools: &'static [ToolReference],
    parameters: &'static [Parameter],
    exclusion: Exclusion,
    /// Writes the text for checked arguments.
    text: fn(&Fields, &McpConfig) -> String,
}

/// What a prompt is for.
enum Job {
    /// The job of a skill, which must be offered.
    Skill(&'static Skill),
    Own {
        title: &'static str,
        description: &'static str,
    },
}

/// A parameter of a prompt.
struct Parameter {
    name: &'static str,
    description: &'static str,
    is_required: bool,
    /// Source of the values, for completion.
    source: ValueSource,
    /// Tool without which the parameter is useless.
    tool: Option<ToolReference>,
}

/// Which parameters exclude one another.
enum Exclusion {
    None,
    ExactlyOne(&'static [&'static str]),
    AtMostOne(&'static [&'static str]),
}

/// The prompts, in the order in which hosts list them.
static PROMPTS: [Prompt; 7] = [
    Prompt {
        name: "triage_run",
        job: Job::Skill(&TRIAGE_RUN),
        tools: &[GetRun::tool],
        parameters: &[required(RUN, "Run to examine", ValueSource::Runs)],
        exclusion: Exclusion::None,
        text: triage_run,
    },
    Prompt {
        name: "test_this_build",
        job: Job::Own {
            title: "Test this build",
            description: "Runs a test plan or a saved test on a build, waits for the verdicts and summarizes them.",
        },
        tools: &[ListTestPlans::tool, ListDeploymentConfigs::tool, StartRun::tool, WaitForCompletion::tool],
        parameters: &[
            required(BUILD, "Build to test", ValueSource::Builds),
            optional(
                TEST_PLAN,
                "Test plan to run; with neither plan nor test, one is chosen",
                ValueSource::TestPlans,
            ),
            optional(TEST, "Saved test to run instead of a plan", ValueSource::Tests),
            optional(
                DEVICE,
                "Device to run on; default: chosen by the build",
                ValueSource::DeploymentConfigs,
            ),
        ],
        exclusion: Exclusion::AtMostOne(&[TEST_PLAN, TEST]),
        text: test_this_build,
    },
    Prompt {
        name: "nightly_report",
        job: Job::Own {
            title: "Nightly report",
            description: "Reports on an execution of a test plan, and on what is new since an earlier execution.",
        },
        tools: &[SummarizeResults::tool],
        parameters: &[
            optional(EXECUTION, "Execution to report on", ValueSource::Executions),
            Parameter {
                tool: Some(ListTestPlanExecutions::tool),
                ..optional(
                    TEST_PLAN,
                    "Test plan, to report on its latest completed execution",
                    ValueSource::TestPlans,
                )
            },
            optional(
                COMPARED_WITH,
                "Execution to compare with; default: the previous one",
                ValueSource::ComparableExecutions,
            ),
        ],
        exclusion: Exclusion::ExactlyOne(&[EXECUTION, TEST_PLAN]),
        text: nightly_report,
    },
    Prompt {
        name: "export_results",
        job: Job::Skill(&EXPORT_RESULTS),
        tools: &[ExportTmsysRun::tool],
        parameters: &[
            optional(EXECUTION, "Execution to export", ValueSource::Executions),
            optional(RUN, "Single run to export instead", ValueSource::Runs),
        ],
        exclusion: Exclusion::ExactlyOne(&[EXECUTION, RUN]),
        text: export_results,
    },
    Prompt {
        name: "release_smoke",
        job: Job::Skill(&RELEASE_SMOKE),
        tools: &[ListDeploymentConfigs::tool, StartRun::tool],
        parameters: &[
            required(BUILD, "Build to release", ValueSource::Builds),
            required(TEST_PLAN, "Test plan to run", ValueSource::TestPlans),
            optional(
                DEVICE,
                "Device to run on; default: chosen by the build",
                ValueSource::DeploymentConfigs,
            ),
        ],
        exclusion: Exclusion::None,
        text: release_smoke,
    },
    Prompt {
        name: "write_a_test",
        job: Job::Skill(&WRITE_A_TEST),
        tools: &[ListTests::tool, GetTest::tool, CreateTest::tool],
        parameters: &[optional(
            TEST,
            "Similar test, as an example; default: one is chosen",
            ValueSource::Tests,
        )],
        exclusion: Exclusion::None,
        text: write_a_test,
    },
    Prompt {
        name: "keep_flaky_tests_down",
        job: Job::Skill(&KEEP_FLAKY_TESTS_DOWN),
        tools: &[ListTestPlanExecutions::tool, SummarizeResults::tool],
        parameters: &[required(TEST_PLAN, "Test plan to examine", ValueSource::TestPlans)],
        exclusion: Exclusion::None,
        text: keep_flaky_tests_down,
    },
];

/// The parameter that every prompt has in global scope.
const PROJECT: Parameter =
    optional(PROJECT_ID, "Project; required if the key has several", ValueSource::Projects);

const fn required(name: &'static str, description: &'static str, source: ValueSource) -> Parameter {
    Parameter { is_required: true, ..optional(name, description, source) }
}

const fn optional(name: &'static str, description: &'static str, source: ValueSource) -> Parameter {
    Parameter { name, description, is_required: false, source, tool: None }
}

/// Returns the offered prompts as hosts list them.
pub(super) fn list(config: &McpConfig) -> Vec<model::Prompt> {
    offered(config).map(|prompt| prompt.publish(config)).collect()
}

/// Finds an offered prompt by its name.
pub(super) fn find_offered(name: &str, config: &McpConfig) -> Option<&'static Prompt> {
    offered(config).find(|prompt| prompt.name == name)
}

/// Returns the name of the prompt with this name, offered or not.
pub fn known_prompt(name: &str) -> Option<&'static str> {
    PROMPTS.iter().map(|prompt| prompt.name).find(|known| *known == name)
}

/// Returns the text of a prompt.
///
/// # Errors
/// Invalid parameters if there is no such prompt, or with everything that is wrong with the arguments.
pub(super) fn get(request: GetPromptRequestParams, config: &McpConfig) -> Result<GetPromptResult, ErrorData> {
    let prompt = find_offered(&request.name, config).ok_or_else(|| unknown_prompt(&request.name, config))?;
    let mut arguments = request.arguments.unwrap_or_default();

    // In project scope the prompts have no parameter for the project.
    if let Some(bound) = &config.project {
        remove_bound_project(&mut arguments, bound).map_err(|failure| {
            let message = format!("{}: {failure}", prompt.name);
            ErrorData::invalid_params(message, Some(json!({"error": failure})))
        })?;
    }

    let arguments = prompt
        .check(arguments, config)
        .map_err(|problems| ErrorData::invalid_params(format!("{}: {problems}", prompt.name), None))?;
    let message = PromptMessage::new_text(Role::User, (prompt.text)(&arguments, config));

    Ok(GetPromptResult::new(vec![message]).with_description(prompt.description()))
}

fn offered(config: &McpConfig) -> impl Iterator<Item = &'static Prompt> {
    let selection = &config.selection;
    PROMPTS.iter().filter(|prompt| prompt.is_offered(selection))
}

fn unknown_prompt(name: &str, config: &McpConfig) -> ErrorData {
    let names: Vec<_> = offered(config).map(|prompt| prompt.name).collect();
    let quoted: String = name.chars().take(QUOTED_NAME_CHARS).collect();
    ErrorData::invalid_params(format!("no prompt `{quoted}`; valid: {}", names.join(", ")), None)
}

/// Removes the project from the arguments in project scope. A host may send it although the prompt has no such parameter
/// there.
///
/// # Errors
/// `project_scope_mismatch` if the arguments name another project than `bound`.
fn remove_bound_project(arguments: &mut JsonObject, bound: &str) -> Result<(), Failure> {
    let project = match arguments.get(PROJECT_ID) {
        Some(Value::Null) => String::new(),
        Some(value) => text(value).unwrap_or_else(|| value.to_string()),
        None => return Ok(()),
    };
    if !project.is_empty() && project != bound {
        return Err(other_project_refused(&quoted_argument(&project), bound));
    }

    arguments.remove(PROJECT_ID);
    Ok(())
}

impl Prompt {
    fn title(&self) -> &'static str {
        match self.job {
            Job::Skill(skill) => skill.title(),
            Job::Own { title, .. } => title,
        }
    }

    fn description(&self) -> &'static str {
        match self.job {
            Job::Skill(skill) => skill.summary(),
            Job::Own { description, .. } => description,
        }
    }

    fn is_offered(&self, selection: &Selection) -> bool {
        let is_job_offered = match self.job {
            Job::Skill(skill) => skill.is_offered(selection),
            Job::Own { .. } => true,
        };
        is_job_offered && self.tools.iter().all(|tool| selection.offers(tool().info))
    }

    /// Returns the source of the values of a parameter, or `None` if the prompt has no such parameter.
    pub(super) fn value_source(&self, parameter: &str, config: &McpConfig) -> Option<ValueSource> {
        let offered = self.offered_parameters(config);
        offered.into_iter().find(|offered| offered.name == parameter).map(|offered| offered.source)
    }

    /// Returns the parameters that are useful with the offered tools.
    fn offered_parameters(&self, config: &McpConfig) -> Vec<&'static Parameter> {
        let is_useful =
            |parameter: &&Parameter| parameter.tool.is_none_or(|tool| config.selection.offers(tool().info));
        let own = self.parameters.iter().filter(is_useful);

        own.chain(config.is_global().then_some(&PROJECT)).collect()
    }

    /// Returns the prompt as hosts list it.
    fn publish(&self, config: &McpConfig) -> model::Prompt {
        let offered = self.offered_parameters(config);
        let published = |parameter: &&Parameter| {
            PromptArgument::new(parameter.name)
                .with_description(parameter.description)
                .with_required(self.requires(parameter, &offered))
        };
        let arguments = offered.iter().map(published).collect();

        model::Prompt::new(self.name, Some(self.description()), Some(arguments)).with_title(self.title())
    }

    /// Returns whether a parameter is required: by itself, or as the only offered one of a group of which one is required.
    fn requires(&self, parameter: &Parameter, offered: &[&Parameter]) -> bool {
        let is_only_one = match self.exclusion {
            Exclusion::ExactlyOne(names) => names_of(names, offered) == [parameter.name],
            Exclusion::None | Exclusion::AtMostOne(_) => false,
        };

        parameter.is_required || is_only_one
    }

    /// Returns the checked arguments. An empty text counts as no argument, because hosts send empty text for a field that was
    /// left empty.
    ///
    /// # Errors
    /// Everything that is wrong with the arguments, as text.
    fn check(&self, arguments: JsonObject, config: &McpConfig) -> Result<Fields, String> {
        let offered = self.offered_parameters(config);
        let (mut checked, mut problems) = (Fields::new(), Vec::new());

        for (name, value) in arguments {
            match check_value(&name, &value, &offered) {
                Ok(Some(text)) => drop(checked.insert(name, Value::from(text))),
                Ok(None) => {}
                Err(problem) => {
                    problems.push(problem);
                    // An invalid argument must not be reported as missing, too.
                    checked.insert(name, value);
                }
            }
        }

        let is_missing = |parameter: &&&Parameter| {
            self.requires(parameter, &offered) && !checked.contains_key(parameter.name)
        };
        let missing = offered.iter().filter(is_missing);
        problems.extend(missing.map(|parameter| format!("`{}` is required", parameter.name)));
        problems.extend(self.check_exclusion(&checked, &offered));

        let more = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        if more > 0 {
            problems.push(format!("and {more} more"));
        }

        if problems.is_empty() { Ok(checked) } else { Err(problems.join("; ")) }
    }

    /// Returns how the arguments violate the exclusion. Only offered parameters count.
    fn check_exclusion(&self, arguments: &Fields, offered: &[&Parameter]) -> Option<String> {
        let (quantifier, minimum, names) = match self.exclusion {
            Exclusion::None => return None,
            Exclusion::ExactlyOne(names) => ("exactly", 1, names),
            Exclusion::AtMostOne(names) => ("at most", 0, names),
        };
        let count = names.iter().filter(|name| arguments.contains_key(**name)).count();
        let names = names_of(names, offered);

        // A single offered parameter is either required or excludes nothing.
        let is_violated = names.len() > 1 && (count < minimum || count > 1);
        is_violated.then(|| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("give {quantifier} one of {}", names.join(", "))
        })
    }
}

/// Returns the names that belong to offered parameters.
fn names_of(names: &[&'static str], offered: &[&Parameter]) -> Vec<&'static str> {
    let is_offered = |name: &&str| offered.iter().any(|parameter| parameter.name == *name);
    names.iter().copied().filter(is_offered).collect()
}

/// Returns the text of an argument, or `None` if the argument is empty.
fn check_value(name: &str, value: &Value, offered: &[&Parameter]) -> Result<Option<String>, String> {
    if !offered.iter().any(|parameter| parameter.name == name) {
        let names: Vec<_> = offered.iter().map(|parameter| parameter.name).collect();
        return Err(format!("no argument `{name:.40}`; valid: {}", names.join(", ")));
    }
    if value.is_null() {
        return Ok(None);
    }

    let text = text(value).ok_or_else(|| format!("`{name}` must be text"))?;
    check_text(&text).map_err(|rule| format!("`{name}` {rule}"))?;

    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) || has_hidden(text) {
        return Err("must be one line of visible characters".to_owned());
    }

    match text.chars().count() {
        count if count > MAX_VALUE_CHARS => {
            Err(format!("must have at most {MAX_VALUE_CHARS} characters, got {count}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_VALUE_CHARS, check_text, text};

    #[test]
    fn a_value_is_one_line_of_visible_characters() {
        let longest = "x".repeat(MAX_VALUE_CHARS);
        let too_long = format!("{longest}x");
        let cases = [
            ("run-1", true),
            ("ein Name \u{e4}", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("a\nb", false),
            ("a\u{200b}b", false),
            ("a\u{2028}b", false),
        ];

        for (value, is_valid) in cases {
            assert_eq!(check_text(value).is_ok(), is_valid, "{value:?}");
        }
    }

    #[test]
    fn numbers_are_taken_as_text() {
        for (value, expected) in
            [(json!(" a "), Some("a")), (json!(7), Some("7")), (json!(true), None), (json!([]), None)]
        {
            assert_eq!(text(&value).as_deref(), expected, "{value}");
        }
    }
}
