//! `upload_build` of a server without local files: the caller sends the bytes to the storage host itself.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use serde_with::apply;

use super::{CompositeTool, upload_build::UPLOAD_BUILD};
use crate::{
    failure::Failure,
    fields::Fields,
    service::{
        api::uploads::{CompletedPart, UploadedFile, check_etags, check_part_numbers},
        rule::Rule,
        tool::ToolInfo,
        view::{lenient, objects, view},
    },
    tools::{
        context::ToolContext,
        upload::{
            BuildArguments, RemoteUpload, RemoteUploadAnswer, platform_from_file_name, platform_violation,
        },
    },
    violation::Violation,
};

/// Uploads a build of the game or app.
///
/// Begin with `file_name` and `file_size`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UploadRemoteBuild {
    #[serde(flatten)]
    pub file: Option<UploadedFile>,
    #[serde(flatten)]
    pub build: BuildArguments,
    /// From the first reply.
    pub upload_token: Option<String>,
    /// First part to address.
    #[schemars(range(min = 1))]
    pub from_part: Option<u64>,
    /// Completes: all parts.
    #[schemars(length(min = 1))]
    pub parts: Option<Vec<CompletedPart>>,
    /// Cancels the upload.
    pub cancel: Option<bool>,
}

/// Arguments of which a call with `upload_token` has exactly one.
const STEPS: [&str; 3] = ["from_part", "parts", "cancel"];

impl CompositeTool for UploadRemoteBuild {
    const TOOL: ToolInfo = UPLOAD_BUILD.rules(&[
        Rule::ExactlyOne(&["file_name", "upload_token"]),
        Rule::Needs("file_name", "file_size"),
        Rule::NeedsTrue("deletion_policy", "auto_delete"),
        Rule::Custom(check_platform),
        Rule::Custom(check_step),
        Rule::Custom(check_part_numbers),
        Rule::Custom(check_etags),
    ]);
    type Answer = RemoteUploadAnswer;

    async fn run(self, context: ToolContext) -> Result<RemoteUploadAnswer, Failure> {
        let mut upload = RemoteUpload::new(&context.caller, context.project, &context.files);
        if let Some(file) = self.file {
            return upload.start(file, self.build).await;
        }

        // A call without a file has a token: the rules have been checked.
        let sealed = self.upload_token.unwrap_or_default();
        let token = upload.open(&sealed).await?;
        match (self.parts, self.from_part) {
            (Some(parts), _) => upload.complete(&token, parts).await,
            (None, Some(from_part)) => upload.more_addresses(&token, from_part).await,
            (None, None) => upload.cancel(&token).await,
        }
    }
}

// The arguments that a rule reads. Their types may be wrong, which the check of the schema reports.
#[apply(_ => #[serde(default, deserialize_with = "lenient")])]
#[derive(Default, Deserialize)]
struct UncheckedFile {
    file_name: Option<String>,
    platform: Option<Value>,
}

objects!(UncheckedFile);

/// Checks that the platform is given, or follows from the file name.
fn check_platform(arguments: &Fields, violations: &mut Vec<Violation>) {
    let UncheckedFile { file_name, platform } = view(arguments);
    if let Some(file_name) = file_name.filter(|_| platform.is_none())
        && platform_from_file_name(&file_name).is_none()
    {
        violations.push(platform_violation(&file_name));
    }
}

/// Checks that a call with a token makes exactly one step, and that a step has a token.
fn check_step(arguments: &Fields, violations: &mut Vec<Violation>) {
    // `cancel: false` is no step.
    let is_step = |name: &&str| {
        arguments.get(*name).is_some_and(|value| *name != "cancel" || *value == Value::Bool(true))
    };
    let steps: Vec<_> = STEPS.into_iter().filter(is_step).collect();
    let mut add = |path: &str, rule: String| violations.push(Violation::new(path, rule));

    if !arguments.contains_key("upload_token") {
        for step in steps {
            add(step, "requires `upload_token`".to_owned());
        }
        return;
    }

    if steps.len() != 1 {
        let got = if steps.is_empty() { "none".to_owned() } else { steps.join(", ") };
        let choices = "exactly one of `from_part`, `parts` and `cancel: true` must be passed with it";
        add("upload_token", format!("{choices}, got {got}"));
    }
    // The rule about `file_name` and `upload_token` names these two.
    let is_other = |name: &&str| !STEPS.contains(name) && !["file_name", "upload_token"].contains(name);
    for other in arguments.keys().map(String::as_str).filter(is_other) {
        add(other, "cannot be combined with `upload_token`".to_owned());
    }
}
