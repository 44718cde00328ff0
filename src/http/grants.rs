//! The grants of the operator: which users may use which API key, and for what, and which of the keys of a user makes a call.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use indexmap::IndexSet;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    call::{Caller, ToolArguments, User, scope::ASK_OPERATOR},
    client::{ApiKey, KeySource},
    failure::{Code, Failure},
    fields::Fields,
    home_path::expand_home_path,
    mcp::Callers,
    service::tool::{Access, ToolDefinition},
    settings::invalid_toml,
    text::{most_similar, trimmed},
    tools::catalog,
};

#[derive(Debug)]
pub(super) struct Grants(Vec<NamedGrant>);

/// A grant with the persons whom it names: those with a value in a claim.
#[derive(Debug)]
struct NamedGrant {
    /// Name of the claim, or a JSON Pointer (RFC 6901) to it if it begins with `/`.
    claim: String,
    /// The value of the claim, or of one item if the claim is a list.
    value: String,
    file: KeySource,
    grant: Grant,
}

impl Grants {
    /// Reads a file of grants, and the keys that it names. An error has every problem.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let unusable = |problem| format!("the grants file `{}` cannot be used: {problem}", path.display());
        let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let text = trimmed(&text);
        let document: GrantsDocument = toml_edit::de::from_str(text)
            .map_err(|error| unusable(invalid_toml(text, error.message(), error.span())))?;
        if document.grant.is_empty() {
            return Err(unusable("it has no [[grant]]".to_owned()));
        }

        let directory = path.parent().unwrap_or(Path::new(""));
        let (mut grants, mut problems) = (Vec::new(), Vec::new());
        for (number, definition) in (1..).zip(document.grant) {
            match definition.load(directory) {
                Ok(grant) => grants.push(grant),
                Err(found) => problems.push(format!("grant {number}: {found}")),
            }
        }
        if problems.is_empty() { Ok(Self(grants)) } else { Err(unusable(problems.join("; "))) }
    }

    /// Returns the grants that name the person with these claims, in the order of the file. A key whose file has changed is read
    /// again.
    pub(super) fn of_person(&self, claims: &Fields) -> Vec<Grant> {
        let named = self.0.iter().filter(|named| named.names(claims));
        named
            .map(|NamedGrant { file, grant, .. }| {
                let key = file.known_key().unwrap_or_else(|_| grant.key.clone());
                Grant { key, ..grant.clone() }
            })
            .collect()
    }
}

impl NamedGrant {
    /// Returns whether the claim is the value, or a list that contains the value: an array, or a text as for `scope`.
    fn names(&self, claims: &Fields) -> bool {
        let is_value = |found: &Value| {
            let text = found.as_str().unwrap_or_default();
            text == self.value || text.split([' ', ',']).any(|word| word == self.value)
        };
        match self.find(claims) {
            Some(Value::Array(items)) => items.iter().any(is_value),
            Some(found) => is_value(found),
            None => false,
        }
    }

    fn find<'a>(&self, claims: &'a Fields) -> Option<&'a Value> {
        let Some(pointer) = self.claim.strip_prefix('/') else { return claims.get(&self.claim) };

        let (first, rest) = pointer
            .split_once('/')
            .map_or((pointer, ""), |(first, _)| (first, pointer.get(first.len()..).unwrap_or_default()));
        claims.get(&first.replace("~1", "/").replace("~0", "~"))?.pointer(rest)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantsDocument {
    #[serde(default)]
    grant: Vec<GrantDefinition>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantDefinition {
    claim: String,
    value: String,
    /// File with the API key, relative to the file of the grants or to the home directory (`~/`).
    key_file: PathBuf,
    /// The projects; all projects of the key if they are missing.
    projects: Option<Vec<String>>,
    /// The permissions; all permissions of the key if they are missing.
    permissions: Option<Vec<String>>,
}

impl GrantDefinition {
    /// Loads the key. A relative name of its file counts from `directory`.
    fn load(self, directory: &Path) -> Result<NamedGrant, String> {
        let unknown = self.permissions.iter().flatten().filter_map(|name| unknown_permission(name));
        // A text with two spaces has an empty word.
        let empty = self.value.is_empty().then(|| "`value` is empty".to_owned());
        let mut problems: Vec<_> = unknown.chain(empty).collect();

        // `join` keeps an absolute name as it is.
        let file = KeySource::file(directory.join(expand_home_path(self.key_file)));
        let key = file.and_then(|file| file.known_key().map(|key| (file, key)));
        let key = key.map_err(|problem| problems.push(format!("`key_file` {problem}")));
        let (Ok((file, key)), true) = (key, problems.is_empty()) else { return Err(problems.join("; ")) };

        let list = |list: Option<Vec<String>>| list.map(Arc::from);
        let grant = Grant { key, projects: list(self.projects), permissions: list(self.permissions) };
        Ok(NamedGrant { claim: self.claim, value: self.value, file, grant })
    }
}

/// Returns the problem with a permission that no tool needs.
fn unknown_permission(name: &str) -> Option<String> {
    let known = || {
        catalog::tools().filter_map(|tool| match tool.info.access {
            Access::Permission(permission) => Some(permission),
            Access::AnyKey | Access::NoKey => None,
        })
    };
    if known().any(|permission| permission == name) {
        return None;
    }

    let nearest = most_similar(name, known());
    let suggestion = nearest.map(|nearest| format!(" (nearest: `{nearest}`)")).unwrap_or_default();
    Some(format!("unknown permission `{name}`{suggestion}"))
}

/// Purpose of the derived key that identifies a credential.
pub(super) const ID_PURPOSE: &[u8] = b"tas-mcp tenants 1";

/// An API key that users may use, and for what.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) key: ApiKey,
    /// The projects; `None` for all.
    projects: Option<Arc<[String]>>,
    /// The permissions; `None` for all.
    permissions: Option<Arc<[String]>>,
}

impl Grant {
    /// Returns what distinguishes the grant from others. The key is not in it.
    pub(super) fn identity(&self) -> impl std::fmt::Debug {
        (self.key.derive_key(ID_PURPOSE), self.projects.clone(), self.permissions.clone())
    }
}

/// The callers of one credential, in the order in which they are preferred; or why every call fails.
#[derive(Clone, Debug)]
pub(super) struct GrantedCallers(Result<Vec<Caller>, Failure>);

impl GrantedCallers {
    pub(super) fn one(caller: Result<Caller, Failure>) -> Self {
        Self(caller.map(|caller| vec![caller]))
    }

    /// Returns the callers of the user `principal`, who share the connections of `configured`, but nothing that it remembers.
    /// Without a grant every call is refused.
    pub(super) fn of_user(configured: &Caller, principal: &str, grants: &[Grant]) -> Self {
        let Some(first) = grants.first() else { return Self(Ok(Vec::new())) };

        let user = Arc::new(User { principal: principal.to_owned(), key: first.key.clone() });
        let caller = |Grant { key, projects, permissions }: Grant| {
            configured.with_key_of_user(Arc::clone(&user), key, projects, permissions)
        };
        Self(Ok(grants.iter().cloned().map(caller).collect()))
    }

    /// Returns the same callers in another project scope; `None` is global scope.
    pub(super) fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        let with_scope = |caller: &Caller| caller.with_scope(project, is_read_only);
        Self(self.0.clone().map(|callers| callers.iter().map(with_scope).collect()))
    }

    /// Returns whether some caller may call `tool`. If all calls fail, every one of them explains this.
    pub(super) fn permit(&self, tool: &ToolDefinition) -> bool {
        self.0.is_err() || self.all().iter().any(|caller| caller.permits(tool, None))
    }

    pub(super) fn is_key_accepted(&self) -> bool {
        self.all().iter().any(|caller| caller.client().is_key_accepted())
    }

    fn all(&self) -> &[Caller] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the first of several callers whose key reaches the project of the call, or the records of its ids.
    async fn find(&self, tool: &ToolDefinition, arguments: &ToolArguments) -> Result<&Caller, Failure> {
        let requested = arguments.common.project_id.as_deref();
        let permitted: Vec<_> = self.all().iter().filter(|caller| caller.permits(tool, requested)).collect();
        // If no caller may make the call, or none reaches the records, the call itself reports it.
        let Some(first) = permitted.first().copied() else { return self.first() };
        if permitted.len() == 1 {
            return Ok(first);
        }

        for caller in permitted {
            if caller.reaches(tool, arguments).await? {
                return Ok(caller);
            }
        }
        Ok(first)
    }
}

impl Callers for GrantedCallers {
    fn first(&self) -> Result<&Caller, Failure> {
        let callers = self.0.as_ref().map_err(Clone::clone)?;
        callers.first().ok_or_else(|| {
            let message = "no grant of this server names the person";
            Failure::new(Code::PermissionDenied, message).hint(ASK_OPERATOR)
        })
    }

    fn choose<'a>(
        &'a self,
        tool: &'a ToolDefinition,
        arguments: &'a ToolArguments,
    ) -> BoxFuture<'a, Result<Caller, Failure>> {
        Box::pin(async move { self.find(tool, arguments).await.cloned() })
    }

    fn known_projects(&self) -> Vec<String> {
        let known: IndexSet<_> = self.all().iter().flat_map(|caller| caller.scope.known_projects()).collect();
        known.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_a_text_or_a_list_of_texts() {
        let claims: Fields = serde_json::from_value(json!({
            "sub": "alice",
            "groups": ["qa", "dev"],
            "roles": "qa, dev",
            "realm": {"roles": ["tester"], "a/b": "c"},
            "https://example.com/team": "games",
            "level": 3,
        }))
        .expect("claims");
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("key"), "svc_demo_key\n").expect("a key");

        for (claim, value, expected) in [
            ("sub", "alice", true),
            ("sub", "alic", false),
            ("groups", "dev", true),
            ("groups", "Dev", false),
            ("roles", "dev", true),
            ("/realm/roles", "tester", true),
            ("/realm/a~1b", "c", true),
            ("/sub", "alice", true),
            ("https://example.com/team", "games", true),
            ("level", "3", false),
            ("missing", "x", false),
        ] {
            let file = directory.path().join("grants.toml");
            let text = format!("[[grant]]\nclaim = \"{claim}\"\nvalue = \"{value}\"\nkey_file = \"key\"\n");
            fs::write(&file, text).expect("a file");
            let grants = Grants::read(&file).expect("usable grants");
            assert_eq!(!grants.of_person(&claims).is_empty(), expected, "{claim} {value}");
        }
    }

    #[test]
    fn an_unusable_file_is_explained_without_a_key_that_is_in_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("grants.toml");
        for text in
            ["key=\"svc_planted", "key = \"svc_planted\"", "key_file = \"a\"\nprojects = \"svc_planted\""]
        {
            fs::write(&file, format!("[[grant]]\nclaim = \"a\"\nvalue = \"b\"\n{text}\n")).expect("a file");
            let problem = Grants::read(&file).expect_err("a problem");
            assert!(problem.contains("near line") && !problem.contains("planted"), "{problem}");
        }
    }
}
