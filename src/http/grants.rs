//! The grants of the operator: which users may use which API key, and for what, and which of the keys of a user makes a call. The
//! file is read again when it changes.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::long_work::aside;
use crate::{
    call::{
        Caller, User,
        arguments::{CommonArguments, ToolArguments},
        scope::ASK_OPERATOR,
    },
    client::{ApiKey, KeySource},
    failure::{Code, Failure},
    fields::Fields,
    home_path::expand_home_path,
    mcp::Callers,
    service::{
        api::tests::ListTests,
        catalog::ListedOperation as _,
        tool::{Access, ToolDefinition},
    },
    text::{most_similar, trimmed},
    tools::catalog,
};

/// Least time between two checks whether the file has changed.
const CHECK_PAUSE: Duration = Duration::from_secs(1);

/// The grants cannot be used. The text contains every problem.
#[derive(Debug, thiserror::Error)]
#[error("the grants file `{path}` cannot be used: {}", .problems.join("; "))]
pub(super) struct UnusableGrants {
    path: String,
    problems: Vec<String>,
}

/// A grant with the persons whom it names.
#[derive(Clone, Debug)]
struct NamedGrant {
    condition: ClaimCondition,
    grant: Grant,
}

/// The file of the grants. A change of the file, or of a key that it names, counts after a moment.
#[derive(Debug)]
pub(super) struct GrantsFile {
    path: PathBuf,
    loaded: Mutex<LoadedGrants>,
}

#[derive(Debug)]
struct LoadedGrants {
    grants: Arc<[NamedGrant]>,
    checked_at: Instant,
    /// The problems that were logged last, so that a problem that lasts is logged once.
    logged: Option<String>,
}

impl GrantsFile {
    pub(super) fn open(path: PathBuf) -> Result<Self, UnusableGrants> {
        let grants = read_grants(&path)?;
        let loaded = LoadedGrants { grants, checked_at: Instant::now(), logged: None };
        Ok(Self { path, loaded: Mutex::new(loaded) })
    }

    /// Returns the grants that name the person with these claims, in the order of the file.
    pub(super) fn of_person(&self, claims: &Fields) -> Vec<Grant> {
        let grants = self.current();
        let named = grants.iter().filter(|named| named.condition.is_met_by(claims));
        named.map(|named| named.grant.clone()).collect()
    }

    /// Returns all grants, each with a text that describes the persons whom it names.
    pub(super) fn described(&self) -> Vec<(String, Grant)> {
        let grants = self.current();
        grants.iter().map(|named| (named.condition.to_string(), named.grant.clone())).collect()
    }

    /// Returns the grants. Reads the file again if the last check is old. A file that cannot be used changes nothing.
    fn current(&self) -> Arc<[NamedGrant]> {
        if self.lock().begin_check() {
            let read = aside(|| read_grants(&self.path));
            self.lock().update(read);
        }

        Arc::clone(&self.lock().grants)
    }

    fn lock(&self) -> MutexGuard<'_, LoadedGrants> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoadedGrants {
    /// Returns whether the last check is old. If so, a new pause begins, so that other requests do not check at the same time.
    fn begin_check(&mut self) -> bool {
        let is_old = self.checked_at.elapsed() >= CHECK_PAUSE;
        if is_old {
            self.checked_at = Instant::now();
        }
        is_old
    }

    /// Takes over the grants that were read now, or logs why they cannot be used.
    fn update(&mut self, read: Result<Arc<[NamedGrant]>, UnusableGrants>) {
        let problem = read.map(|grants| self.grants = grants).err().map(|error| error.to_string());

        if let Some(problem) = problem.as_ref().filter(|problem| self.logged.as_ref() != Some(*problem)) {
            tracing::warn!("{problem}; the earlier grants stay valid");
        }
        self.logged = problem;
    }
}

fn read_grants(path: &Path) -> Result<Arc<[NamedGrant]>, UnusableGrants> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let grants = read_file(path)
        .map_err(|problem| vec![problem])
        .and_then(|definitions| load_all(definitions, directory));
    grants.map_err(|problems| UnusableGrants { path: path.display().to_string(), problems })
}

/// Largest file, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantsDocument {
    #[serde(default)]
    grant: Vec<GrantDefinition>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrantDefinition {
    /// Name of a claim, or a JSON Pointer if it begins with `/`.
    claim: String,
    /// The value of the claim, or of one item if the claim is a list.
    value: String,
    /// File with the API key, relative to the file of the grants or to the home directory (`~/`).
    key_file: PathBuf,
    /// The projects; all projects of the key if they are missing.
    projects: Option<Vec<String>>,
    /// The permissions; all permissions of the key if they are missing.
    permissions: Option<Vec<String>>,
}

fn read_file(path: &Path) -> Result<Vec<GrantDefinition>, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_FILE_BYTES {
        return Err(format!("it is longer than {} KiB", MAX_FILE_BYTES / 1024));
    }

    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let text = trimmed(&text);
    // The message of the parser quotes the line, which contains no secret: keys are in files of their own.
    let document: GrantsDocument =
        toml_edit::de::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
    if document.grant.is_empty() {
        return Err("it has no [[grant]]".to_owned());
    }

    Ok(document.grant)
}

/// Loads the keys of the definitions. Relative names of files count from `directory`.
fn load_all(definitions: Vec<GrantDefinition>, directory: &Path) -> Result<Arc<[NamedGrant]>, Vec<String>> {
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
        let key = KeySource::file(directory.join(expand_home_path(self.key_file)))
            .and_then(|file| file.known_key());
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
    Some(format!("`permissions` has the unknown permission `{name}`{suggestion}"))
}

/// The persons whom a grant names: those with a value in a claim.
#[derive(Clone, Debug)]
struct ClaimCondition {
    /// Name of the claim, or a JSON Pointer (RFC 6901) to it.
    claim: String,
    value: String,
}

impl fmt::Display for ClaimCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}", self.claim, self.value)
    }
}

impl ClaimCondition {
    /// Returns whether the claim is the value, or a list that contains the value.
    fn is_met_by(&self, claims: &Fields) -> bool {
        let is_value = |found: &Value| found.as_str() == Some(&self.value);
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
        let name = first.replace("~1", "/").replace("~0", "~");
        claims.get(&name)?.pointer(rest)
    }
}

/// Purpose of the derived key that identifies a credential.
pub(super) const ID_PURPOSE: &[u8] = b"tas-mcp tenants 1";

/// An API key that users may use, and for what.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    /// The key. Users never see it.
    pub(super) key: ApiKey,
    /// The calls that may be made with the key.
    pub(super) limits: GrantLimits,
}

impl Grant {
    /// Returns what distinguishes the grant from others. The key is not in it.
    pub(super) fn identity(&self) -> (Vec<u8>, &GrantLimits) {
        (self.key.derive_key(ID_PURPOSE), &self.limits)
    }
}

/// The calls that may be made with an API key. The default is all calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct GrantLimits {
    /// The projects; `None` for all.
    pub(super) projects: Option<Arc<[String]>>,
    /// The permissions; `None` for all.
    pub(super) permissions: Option<Arc<[String]>>,
}

/// The callers of one credential, in the order in which they are preferred; or why every call fails.
#[derive(Clone, Debug)]
pub(super) struct GrantedCallers(Result<Vec<Caller>, Failure>);

impl GrantedCallers {
    /// Returns the only caller.
    pub(super) fn one(caller: Result<Caller, Failure>) -> Self {
        Self(caller.map(|caller| vec![caller]))
    }

    /// Returns the callers of the user `principal`, who share the connections of `configured`, but nothing that it remembers.
    /// Without a grant every call is refused.
    pub(super) fn of_user(configured: &Caller, principal: &str, grants: &[Grant]) -> Self {
        let Some(first) = grants.first() else { return Self(Ok(Vec::new())) };

        let user = Arc::new(User { principal: principal.to_owned(), key: first.key.clone() });
        let caller = |Grant { key, limits: GrantLimits { projects, permissions } }: Grant| {
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

    /// Returns whether the service has accepted a key.
    pub(super) fn is_key_accepted(&self) -> bool {
        self.all().iter().any(Caller::is_key_accepted)
    }

    /// Asks the service whether it accepts the first key, with a small request that every key may make.
    ///
    /// # Errors
    /// `unauthenticated` if it does not, or why it cannot be asked.
    pub(super) async fn confirm_key(&self) -> Result<(), Failure> {
        let caller = self.first()?;
        let project = caller.known_projects().into_iter().next();
        let arguments = Fields::from_iter([("page_size".to_owned(), 1.into())]);

        let common = CommonArguments::in_project(project.as_deref());
        caller.call(ListTests::entry(), ToolArguments::new(arguments, common)).await.map(drop)
    }

    fn all(&self) -> &[Caller] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the first of several callers whose key reaches the project of the call, or the records of its ids.
    ///
    /// # Errors
    /// The failure of a look-up.
    async fn find<'a>(
        &'a self,
        tool: &ToolDefinition,
        arguments: &ToolArguments,
    ) -> Result<&'a Caller, Failure> {
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
        let mut known: Vec<String> = Vec::new();
        for project in self.all().iter().flat_map(Caller::known_projects) {
            if !known.contains(&project) {
                known.push(project);
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::service::api::{runs::ListRuns, shared_steps::ListSharedSteps};

    #[test]
    fn a_claim_is_a_text_or_a_list_of_texts() {
        let claims: Fields = serde_json::from_value(json!({
            "sub": "alice",
            "groups": ["qa", "dev"],
            "realm": {"roles": ["tester"], "a/b": "c"},
            "https://example.com/team": "games",
            "level": 3,
        }))
        .expect("claims");
        let cases = [
            ("sub", "alice", true),
            ("sub", "alic", false),
            ("groups", "dev", true),
            ("groups", "Dev", false),
            ("/realm/roles", "tester", true),
            ("/realm/roles/0", "tester", true),
            ("/realm/a~1b", "c", true),
            ("/sub", "alice", true),
            ("https://example.com/team", "games", true),
            ("level", "3", false),
            ("missing", "", false),
        ];

        for (claim, value, expected) in cases {
            let condition = ClaimCondition { claim: claim.to_owned(), value: value.to_owned() };
            assert_eq!(condition.is_met_by(&claims), expected, "{claim} {value}");
        }
    }

    /// A directory with a key and a file of grants.
    fn directory_with(grants: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("demo.key"), "svc_demo_key\n").expect("a key");
        fs::write(directory.path().join("grants.toml"), grants).expect("a file");
        directory
    }

    fn open(directory: &tempfile::TempDir) -> Result<GrantsFile, String> {
        GrantsFile::open(directory.path().join("grants.toml")).map_err(|error| error.to_string())
    }

    /// Returns the number of grants for a person of these groups.
    fn grants_of(file: &GrantsFile, groups: &[&str]) -> usize {
        let claims = serde_json::from_value(json!({"sub": "a", "groups": groups})).expect("claims");
        file.of_person(&claims).len()
    }

    const QA: &str = "[[grant]]\nclaim = \"groups\"\nvalue = \"qa\"\nkey_file = \"demo.key\"\n";

    #[test]
    fn a_person_has_the_grants_that_name_a_group_of_the_person() {
        let limited = format!("{QA}projects = [\"demo\"]\npermissions = [\"project:read-runs\"]\n{QA}");
        let file = open(&directory_with(&limited)).expect("usable grants");

        assert_eq!(grants_of(&file, &["qa", "dev"]), 2);
        assert_eq!(grants_of(&file, &["dev"]), 0);
    }

    #[test]
    fn byte_order_marks_are_no_part_of_the_file_and_of_its_keys() {
        let directory = directory_with(&format!("\u{FEFF}{}", QA.replace('\n', "\r\n")));
        fs::write(directory.path().join("demo.key"), "\u{FEFF}svc_demo_key\r\n").expect("a key");

        assert_eq!(grants_of(&open(&directory).expect("usable grants"), &["qa"]), 1);
    }

    #[test]
    fn every_problem_of_a_file_is_reported() {
        let text = "[[grant]]\nclaim = \"\"\nvalue = \"qa\"\nkey_file = \"missing.key\"\npermissions = [\"project:read-run\"]\n[[grant]]\nclaim = \"a\"\nvalue = \"b\"\nkey_file = \"demo.key\"\nprojects = []\n";
        let problem = open(&directory_with(text)).expect_err("unusable grants");

        for expected in [
            "grant 1: `claim` is empty",
            "grant 1: `key_file` names a file that cannot be read",
            "unknown permission `project:read-run` (nearest: `project:read-runs`)",
            "grant 2: `projects` is empty",
        ] {
            assert!(problem.contains(expected), "{expected} is not in {problem}");
        }
    }

    #[test]
    fn a_file_without_grants_or_with_an_unknown_field_is_refused() {
        for text in ["", "[[grants]]\n", &format!("{QA}project = \"demo\"\n")] {
            assert!(open(&directory_with(text)).is_err(), "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_changed_file_counts_and_a_broken_one_changes_nothing() {
        let directory = directory_with(QA);
        let file = open(&directory).expect("usable grants");
        let path = directory.path().join("grants.toml");

        fs::write(&path, "[[grant]]\nclaim = ").expect("a file");
        tokio::time::advance(CHECK_PAUSE).await;
        assert_eq!(grants_of(&file, &["qa"]), 1, "the file is broken");

        fs::write(&path, QA.replace("qa", "dev")).expect("a file");
        assert_eq!(grants_of(&file, &["qa"]), 1, "the last check is recent");
        tokio::time::advance(CHECK_PAUSE).await;
        assert_eq!((grants_of(&file, &["qa"]), grants_of(&file, &["dev"])), (0, 1));
    }

    fn only(text: &str) -> Arc<[String]> {
        [text.to_owned()].into()
    }

    #[test]
    fn a_call_needs_its_project_and_its_permission() {
        let everything = GrantLimits::default();
        let demo = GrantLimits { projects: Some(only("demo")), permissions: None };
        let reading = GrantLimits { projects: None, permissions: Some(only("project:read-runs")) };
        let editing =
            GrantLimits { projects: Some(only("demo")), permissions: Some(only("project:edit-tests")) };
        let cases = [
            (&everything, Some("arena"), true, true),
            (&demo, Some("demo"), true, true),
            (&demo, Some("arena"), false, false),
            (&demo, None, true, true),
            (&reading, Some("arena"), true, true),
            (&editing, Some("demo"), false, true),
            (&editing, None, false, true),
        ];

        let configured = Caller::of_no_service();
        for (limits, project, lists_runs, lists_steps) in cases {
            let key = ApiKey::parse("svc_demo_key").expect("a key");
            let grant = Grant { key, limits: limits.clone() };
            let callers = GrantedCallers::of_user(&configured, "user", &[grant]);
            let caller = callers.first().expect("a caller");
            let permitted =
                [ListRuns::entry(), ListSharedSteps::entry()].map(|entry| caller.permits(entry, project));
            assert_eq!(permitted, [lists_runs, lists_steps], "{limits:?} {project:?}");
        }
    }
}
