//! One grant as the file states it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;

use super::{ClaimCondition, NamedGrant};
use crate::{
    call::grant::{Grant, GrantLimits},
    client::KeySource,
    service::tool::Access,
    text::most_similar,
    tools::catalog,
};

/// Largest file, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The content of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantsDocument {
    #[serde(default)]
    grant: Vec<GrantDefinition>,
}

/// One grant of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantDefinition {
    /// Name of a claim, or a JSON Pointer if it begins with `/`.
    claim: String,
    /// The value of the claim, or of one item if the claim is a list.
    value: String,
    /// File with the API key, relative to the file of the grants.
    key_file: PathBuf,
    /// The projects; all projects of the key if they are missing.
    projects: Option<Vec<String>>,
    /// The permissions; all permissions of the key if they are missing.
    permissions: Option<Vec<String>>,
}

/// Reads the definitions of a file.
///
/// # Errors
/// Describes why the file cannot be read or has another content.
pub(super) fn read_file(path: &Path) -> Result<Vec<GrantDefinition>, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_FILE_BYTES {
        return Err(format!("it is longer than {} KiB", MAX_FILE_BYTES / 1024));
    }

    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    // The message of the parser quotes the line, which contains no secret: keys are in files of their own.
    let document: GrantsDocument =
        toml_edit::de::from_str(&text).map_err(|error| error.to_string().trim().to_owned())?;
    if document.grant.is_empty() {
        return Err("it has no [[grant]]".to_owned());
    }

    Ok(document.grant)
}

/// Loads the keys of the definitions. Relative names of files count from `directory`.
///
/// # Errors
/// Every problem of every grant.
pub(super) fn load_all(
    definitions: Vec<GrantDefinition>,
    directory: &Path,
) -> Result<Arc<[NamedGrant]>, Vec<String>> {
    let (mut grants, mut problems) = (Vec::new(), Vec::new());
    for (number, definition) in (1..).zip(definitions) {
        match definition.load(directory) {
            Ok(grant) => grants.push(grant),
            Err(found) => {
                problems.extend(found.into_iter().map(|problem| format!("grant {number}: {problem}")));
            }
        }
    }

    if problems.is_empty() { Ok(grants.into()) } else { Err(problems) }
}

impl GrantDefinition {
    fn load(self, directory: &Path) -> Result<NamedGrant, Vec<String>> {
        let mut problems = Vec::new();
        for (name, text) in [("claim", &self.claim), ("value", &self.value)] {
            if text.is_empty() {
                problems.push(format!("`{name}` is empty"));
            }
        }
        for (name, list) in [("projects", &self.projects), ("permissions", &self.permissions)] {
            if list.as_ref().is_some_and(Vec::is_empty) {
                problems.push(format!("`{name}` is empty: leave it out to allow all that the key allows"));
            }
        }
        problems.extend(self.permissions.iter().flatten().filter_map(|name| unknown_permission(name)));

        // `join` keeps an absolute name as it is.
        let key = KeySource::file(directory.join(&self.key_file)).and_then(|file| file.known_key());
        let key = key.map_err(|problem| problems.push(format!("`key_file` {problem}")));
        let (Ok(key), true) = (key, problems.is_empty()) else { return Err(problems) };

        let list = |list: Option<Vec<String>>| list.map(Arc::from);
        let limits = GrantLimits { projects: list(self.projects), permissions: list(self.permissions) };
        let condition = ClaimCondition { claim: self.claim, value: self.value };
        Ok(NamedGrant { condition, grant: Grant { key, limits } })
    }
}

/// Returns the problem with a permission that no tool needs.
fn unknown_permission(name: &str) -> Option<String> {
    let known = || {
        catalog::tools().filter_map(|tool| match tool.tool().access {
            Access::Permission(permission) => Some(permission),
            Access::AnyKey | Access::NoKey => None,
        })
    };
    if known().any(|permission| permission == name) {
        return None;
    }

    let nearest = most_similar(name, known());
    let suggestion = nearest.map(|nearest| format!(" (nearest: `{nearest}`)")).unwrap_or_default();
    Some(format!("`permissions` has the unknown permission `{name}`{suggestion}"))
}
