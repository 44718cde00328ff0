//! The arguments of `initiate_build_upload` that the caller of an upload did not set.

use std::{ops::RangeInclusive, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};

use super::platform_from_file_name;
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::api::{builds::BuildPlatform, uploads::InitiateBuildUpload},
    violation::Violation,
};

/// Lowest rate that the time limit of an upload allows for, in bytes a minute: 256 KiB/s, a slow line at home.
const SLOWEST_RATE: u64 = 60 * 256 * 1024;

/// Default and maximum time limit of a multipart upload, in minutes (supplement 10.4). The default for a single-part
/// upload is 10.
const TIME_LIMIT_MINUTES: RangeInclusive<u64> = 60..=1_440;

/// How an upload was requested: the value of `details.upload.method`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) enum UploadMethod {
    /// With the subcommand `upload`.
    #[serde(rename = "cli")]
    CommandLine,
    /// With the tool `upload_build`.
    #[serde(rename = "mcp")]
    Tool,
}

/// Fills in the arguments that follow from the file name, and the default of `multipart`.
pub(super) fn fill_from_file_name(arguments: &mut Fields, file_name: &str) -> Result<(), Failure> {
    if !arguments.contains_key("platform") {
        arguments.insert("platform".to_owned(), json!(require_platform(file_name)?));
    }

    arguments.entry("name").or_insert_with(|| json!(file_name));
    arguments.insert("file_name".to_owned(), json!(file_name));
    arguments.entry("multipart").or_insert(Value::Bool(true));

    Ok(())
}

/// Returns how long the upload may take. Sets `upload_timeout` if the caller did not set it and a slow line needs more
/// time than the service gives by default.
pub(super) fn choose_time_limit(arguments: &mut Fields, size: u64) -> Duration {
    let (default, longest) = (*TIME_LIMIT_MINUTES.start(), *TIME_LIMIT_MINUTES.end());
    let needed = size.div_ceil(SLOWEST_RATE).clamp(default, longest);
    let is_single_part = arguments.get("multipart") == Some(&Value::Bool(false));

    if is_single_part || needed > default {
        arguments.entry("upload_timeout").or_insert_with(|| json!(needed));
    }

    let minutes = arguments.get("upload_timeout").and_then(Value::as_u64).unwrap_or(needed);
    Duration::from_secs(60 * minutes)
}

/// Returns the call that initiates an upload of `size` bytes.
///
/// # Errors
/// `invalid_arguments` if an argument has another type than the operation states.
pub(super) fn initiation(mut arguments: Fields, size: u64) -> Result<InitiateBuildUpload, Failure> {
    arguments.insert("file_size".to_owned(), json!(size));
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        Failure::new(Code::InvalidArguments, format!("upload_build: {error}")).hint("nothing was sent")
    })
}

/// Returns the platform that the file name stands for.
///
/// # Errors
/// `invalid_arguments` if it stands for none.
pub(super) fn require_platform(file_name: &str) -> Result<BuildPlatform, Failure> {
    platform_from_file_name(file_name)
        .ok_or_else(|| Failure::invalid_arguments("upload_build", &[platform_violation(file_name)]))
}

/// Returns the violation of arguments without a platform.
pub(crate) fn platform_violation(file_name: &str) -> Violation {
    let rule = format!("is required: it cannot be derived from the file name `{file_name}`");
    Violation::new("platform", rule)
}

/// Returns the part `upload` of the details of a build.
pub(super) fn upload_details(method: UploadMethod) -> Value {
    json!({"method": method, "cli_version": env!("CARGO_PKG_VERSION")})
}

/// Adds the parts of `details` that the caller did not set.
pub(super) fn add_details<const COUNT: usize>(arguments: &mut Fields, parts: [(&str, Option<Value>); COUNT]) {
    let details = arguments.entry("details").or_insert_with(|| json!({}));
    let Value::Object(details) = details else { return };

    for (part, value) in parts {
        if let Some(value) = value {
            details.entry(part).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_follows_from_the_size() {
        const GIB: u64 = 1 << 30;

        let cases = [
            (json!({"multipart": true}), 1, 60, Value::Null),
            (json!({"multipart": false}), 1, 60, json!(60)),
            (json!({"multipart": true}), 10 * GIB, 683, json!(683)),
            (json!({"multipart": true}), 100 * GIB, 1_440, json!(1_440)),
            (json!({"multipart": true, "upload_timeout": 5}), 10 * GIB, 5, json!(5)),
        ];
        for (given, size, minutes, timeout) in cases {
            let mut arguments = given.as_object().expect("an object").clone();
            let limit = choose_time_limit(&mut arguments, size);
            assert_eq!(limit, Duration::from_secs(60 * minutes), "{given} {size}");
            assert_eq!(arguments.get("upload_timeout").unwrap_or(&Value::Null), &timeout, "{given} {size}");
        }
    }
}
