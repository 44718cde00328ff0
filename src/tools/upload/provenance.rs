//! The origin of a build (service.md 10.8): the CI job that uploads it, or the git checkout that contains the file.
//!
//! No program is started for it. Files beside an upload may come from anywhere, and git runs programs that the
//! configuration of a repository names.

use std::{
    cell::Cell,
    io::Read as _,
    path::{Path, PathBuf},
};

use cap_std::{ambient_authority, fs::Dir};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{fields::Fields, text::has_hidden};

/// Number of characters of a short commit hash.
const SHORT_HASH_CHARS: usize = 7;

/// Number of bytes of a checkout that are read at most, over all its files. The list of packed references is the largest one.
/// Whoever has made the repository decides about its size, and an upload does not wait for the end of the reading.
const MAX_READ_BYTES: u64 = 1 << 20;

/// Number of bytes that are read at a time.
const CHUNK_BYTES: u64 = 64 << 10;

/// Longest name of a reference in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Longest address of a repository in bytes. A longer one is left out.
const MAX_ADDRESS_BYTES: usize = 2_000;

/// Schemes of addresses that another machine can use. Others lead to a local directory or start a program.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "git"];

/// Hosts of git services, each with the name of the provider.
const PROVIDERS: [(&str, &str); 4] =
    [("github", "github"), ("gitlab", "gitlab"), ("bitbucket", "bitbucket"), ("azure.com", "azure-devops")];

/// What is checked out where a build was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    /// Object identifier of the commit; empty if it is unknown.
    pub commit: String,
    /// The branch; `None` if a commit is checked out directly.
    pub branch: Option<String>,
    /// A tag of the commit, which only the variables of a CI job name.
    pub tag: Option<String>,
    /// Address of the repository, without credentials, which only the variables of a CI job name.
    pub remote: Option<String>,
}

/// Returns the part `vcs` of a build's details, or `None` if the commit is unknown.
pub(super) fn vcs_details(checkout: Checkout) -> Option<Value> {
    let Checkout { commit, branch, tag, remote } = checkout;
    if commit.is_empty() {
        return None;
    }

    // Some CI systems name the tag as the branch of a job that builds a tag.
    let branch = branch.filter(|branch| Some(branch) != tag.as_ref());
    let provider = remote.as_deref().and_then(provider).map(str::to_owned);
    let short_hash: String = commit.chars().take(SHORT_HASH_CHARS).collect();
    let mut vcs = Fields::from_iter([
        ("type".to_owned(), json!("git")),
        ("commit".to_owned(), json!({"hash": commit, "short_hash": short_hash})),
    ]);
    for (field, value) in
        [("provider", provider), ("repository_url", remote), ("branch", branch), ("tag", tag)]
    {
        if let Some(value) = value {
            vcs.insert(field.to_owned(), json!(value));
        }
    }

    Some(Value::Object(vcs))
}

/// A CI job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiJob {
    /// The part `ci` of a build's details.
    pub ci: Value,
    /// The checkout as the variables describe it.
    pub checkout: Checkout,
}

/// Returns the CI job that the environment variables describe, or `None` outside of CI. `variable` returns the value of
/// a variable.
pub fn detect_ci_job(variable: impl Fn(&str) -> Option<String>) -> Option<CiJob> {
    let value = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let Some(system) = CI_SYSTEMS.iter().find(|system| value(system.marker).is_some()) else {
        return value("CI").map(|_| CiJob { ci: json!({"system": "custom"}), checkout: Checkout::default() });
    };

    let mut ci = Fields::from_iter([("system".to_owned(), json!(system.name))]);
    for (field, template) in system.fields {
        if let Some(text) = expand(template, value) {
            ci.insert((*field).to_owned(), json!(text));
        }
    }
    let text = |template: &str| expand(template, value);
    let checkout = Checkout {
        commit: text(system.commit).and_then(|commit| object_id(&commit)).unwrap_or_default(),
        branch: system.branch.iter().find_map(|template| branch_name(&text(template)?)),
        tag: text(system.tag).and_then(|name| Some(name.strip_prefix("refs/tags/")?.to_owned())),
        remote: text(system.repository).and_then(|address| public_address(&address)),
    };

    Some(CiJob { ci: Value::Object(ci), checkout })
}

/// Replaces the names in braces by the values of the variables. Returns `None` if a variable is not set.
fn expand(template: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    for (index, piece) in template.split(['{', '}']).enumerate() {
        // Every second piece is the name of a variable.
        text.push_str(&if index % 2 == 1 { value(piece)? } else { piece.to_owned() });
    }
    Some(text)
}

/// Returns the branch that `reference` stands for, or `None` for tags and other references.
fn branch_name(reference: &str) -> Option<String> {
    let name = reference.strip_prefix("refs/heads/").or_else(|| reference.strip_prefix("origin/"));
    let name = name.unwrap_or(reference);
    (!name.starts_with("refs/")).then(|| name.to_owned())
}

/// Returns commit and branch of the checkout that contains `directory`, or `None` if there is none or it cannot be read.
/// Nothing outside of `boundary` is read. Without a boundary, nothing outside of the checkout is read. The reading ends when
/// `stopping` is cancelled.
pub(super) fn find_head(
    boundary: Option<&Path>,
    directory: &Path,
    stopping: CancellationToken,
) -> Option<Checkout> {
    let is_inside = |ancestor: &&Path| boundary.is_none_or(|boundary| ancestor.starts_with(boundary));
    let has_git = |ancestor: &&Path| ancestor.join(".git").symlink_metadata().is_ok();
    let checkout = directory.ancestors().take_while(is_inside).find(has_git)?;

    let git = GitDirectory::open(boundary.unwrap_or(checkout), checkout, stopping)?;
    let head = git.read(&git.own.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return Some(Checkout { commit: object_id(&head)?, ..Checkout::default() });
    };
    let commit = is_reference_name(name).then(|| git.commit_of(name))??;

    Some(Checkout {
        commit,
        branch: name.strip_prefix("refs/heads/").map(str::to_owned),
        ..Checkout::default()
    })
}

/// The `.git` directory of a checkout, read without git.
///
/// All files are opened relative to one directory that they cannot leave: neither links nor a `.git` file lead out of
/// it.
#[derive(Debug)]
struct GitDirectory {
    /// Directory that no file is read outside of.
    boundary: Dir,
    /// Directory of this checkout, relative to the boundary.
    own: PathBuf,
    /// Directory that all checkouts of the repository share. It differs from `own` in a linked worktree.
    common: PathBuf,
    /// Number of bytes that may still be read.
    unread: Cell<u64>,
    /// Cancelled with the call.
    stopping: CancellationToken,
}

impl GitDirectory {
    /// Opens the `.git` directory of `checkout`. A `.git` file is followed only inside `boundary`.
    fn open(boundary: &Path, checkout: &Path, stopping: CancellationToken) -> Option<Self> {
        let entry = checkout.strip_prefix(boundary).ok()?.join(".git");
        let dir = Dir::open_ambient_dir(boundary, ambient_authority()).ok()?;
        let mut git = Self {
            boundary: dir,
            own: entry.clone(),
            common: entry.clone(),
            unread: Cell::new(MAX_READ_BYTES),
            stopping,
        };

        if git.boundary.metadata(&entry).ok()?.is_file() {
            let target = git.read(&entry)?;
            let target = checkout.join(target.strip_prefix("gitdir:")?.trim());
            target.strip_prefix(boundary).ok()?.clone_into(&mut git.own);
        }
        let shared = git.read(&git.own.join("commondir"));
        git.common = shared.map_or_else(|| git.own.clone(), |shared| git.own.join(shared.trim()));

        Some(git)
    }

    /// Returns the commit of the reference `name`. Returns `None` if it has no commit yet, or if the references are not
    /// stored as files.
    fn commit_of(&self, name: &str) -> Option<String> {
        let loose = self.read(&self.common.join(name)).and_then(|text| object_id(&text));
        loose.or_else(|| {
            let packed = self.read(&self.common.join("packed-refs"))?;
            packed.lines().find_map(|line| {
                let (id, packed_name) = line.split_once(' ')?;
                (packed_name == name).then(|| object_id(id))?
            })
        })
    }

    /// Returns the content of a regular file. Others are not opened: a pipe would block.
    fn read(&self, path: &Path) -> Option<String> {
        if !self.boundary.metadata(path).ok()?.is_file() {
            return None;
        }

        let mut bytes = Vec::new();
        let mut file = self.boundary.open(path).ok()?.take(self.unread.get());
        while !self.stopping.is_cancelled() {
            if file.by_ref().take(CHUNK_BYTES).read_to_end(&mut bytes).ok()? == 0 {
                break;
            }
        }
        self.unread.set(file.limit());

        // A file that ends with the last byte may have been cut.
        let is_complete = file.limit() > 0 && !self.stopping.is_cancelled();
        is_complete.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns the object identifier that `text` consists of: SHA-1 or SHA-256 in hexadecimal.
fn object_id(text: &str) -> Option<String> {
    let id = text.trim();
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_ascii_lowercase())
}

/// Returns whether `name` is the full name of a reference and safe to show.
fn is_reference_name(name: &str) -> bool {
    let is_plain = |segment: &str| !segment.is_empty() && !segment.starts_with('.');
    name.starts_with("refs/")
        && name.len() <= MAX_NAME_BYTES
        && name.split('/').all(is_plain)
        && !name.contains(char::is_control)
        && !has_hidden(name)
}

/// Returns the address of a remote without user name, password, query and fragment, which may contain a token. Returns
/// `None` for a local directory.
fn public_address(remote: &str) -> Option<String> {
    if remote.len() > MAX_ADDRESS_BYTES
        || remote.contains(char::is_control)
        || remote.contains(char::is_whitespace)
    {
        return None;
    }

    match remote.split_once("://") {
        Some((scheme, rest)) if SCHEMES.contains(&scheme) => {
            Some(format!("{scheme}://{}", without_credentials(rest)))
        }
        Some(_) => None,
        None => short_address(remote),
    }
}

/// Returns an address after its scheme without user name, password, query and fragment.
fn without_credentials(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = address.split_once('/').unwrap_or((address, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{host}/{path}")
}

/// Returns an address of the form `user@host:path`. The user `git` is kept, because the address does not work without.
fn short_address(remote: &str) -> Option<String> {
    let (authority, path) = remote.split_once(':')?;
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    // One letter before the colon is a drive of Windows.
    if host.len() < 2 || authority.contains(['/', '\\']) || path.starts_with(':') {
        return None;
    }

    let user = if user == "git" { "git@" } else { "" };
    Some(format!("{user}{host}:{path}"))
}

/// Returns the provider that hosts `address`, if its host names one.
fn provider(address: &str) -> Option<&'static str> {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();

    PROVIDERS.into_iter().find(|(part, _)| host.contains(part)).map(|(_, name)| name)
}

/// A CI system. A template is a text with names of environment variables in braces.
struct CiSystem {
    name: &'static str,
    /// Variable that is set in all jobs of the system.
    marker: &'static str,
    /// Template of each field of `ci`.
    fields: &'static [(&'static str, &'static str)],
    /// Templates of the branch. The first one that names a branch applies.
    branch: &'static [&'static str],
    /// Template of the tag, as the full name of a reference.
    tag: &'static str,
    /// Template of the commit.
    commit: &'static str,
    /// Template of the address of the repository.
    repository: &'static str,
}

const CI_SYSTEMS: [CiSystem; 7] = [
    CiSystem {
        name: "github-actions",
        marker: "GITHUB_ACTIONS",
        fields: &[
            ("build_number", "{GITHUB_RUN_NUMBER}"),
            ("job_name", "{GITHUB_JOB}"),
            ("run_id", "{GITHUB_RUN_ID}"),
            ("triggered_by", "{GITHUB_ACTOR}"),
            ("agent", "{RUNNER_NAME}"),
            ("run_url", "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"),
        ],
        branch: &["{GITHUB_HEAD_REF}", "{GITHUB_REF}"],
        tag: "{GITHUB_REF}",
        commit: "{GITHUB_SHA}",
        repository: "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}",
    },
    CiSystem {
        name: "gitlab-ci",
        marker: "GITLAB_CI",
        fields: &[
            ("build_number", "{CI_PIPELINE_IID}"),
            ("job_name", "{CI_JOB_NAME}"),
            ("run_id", "{CI_PIPELINE_ID}"),
            ("run_url", "{CI_JOB_URL}"),
            ("triggered_by", "{GITLAB_USER_LOGIN}"),
            ("agent", "{CI_RUNNER_DESCRIPTION}"),
        ],
        branch: &["{CI_MERGE_REQUEST_SOURCE_BRANCH_NAME}", "{CI_COMMIT_BRANCH}"],
        tag: "refs/tags/{CI_COMMIT_TAG}",
        commit: "{CI_COMMIT_SHA}",
        repository: "{CI_PROJECT_URL}",
    },
    CiSystem {
        name: "jenkins",
        marker: "JENKINS_URL",
        fields: &[
            ("build_number", "{BUILD_NUMBER}"),
            ("job_name", "{JOB_NAME}"),
            ("run_id", "{BUILD_ID}"),
            ("run_url", "{BUILD_URL}"),
            ("agent", "{NODE_NAME}"),
        ],
        branch: &["{CHANGE_BRANCH}", "{GIT_BRANCH}", "{BRANCH_NAME}"],
        tag: "refs/tags/{TAG_NAME}",
        commit: "{GIT_COMMIT}",
        repository: "{GIT_URL}",
    },
    CiSystem {
        name: "circleci",
        marker: "CIRCLECI",
        fields: &[
            ("build_number", "{CIRCLE_BUILD_NUM}"),
            ("job_name", "{CIRCLE_JOB}"),
            ("run_id", "{CIRCLE_WORKFLOW_ID}"),
            ("run_url", "{CIRCLE_BUILD_URL}"),
            ("triggered_by", "{CIRCLE_USERNAME}"),
        ],
        branch: &["{CIRCLE_BRANCH}"],
        tag: "refs/tags/{CIRCLE_TAG}",
        commit: "{CIRCLE_SHA1}",
        repository: "{CIRCLE_REPOSITORY_URL}",
    },
    CiSystem {
        name: "travis",
        marker: "TRAVIS",
        fields: &[
            ("build_number", "{TRAVIS_BUILD_NUMBER}"),
            ("job_name", "{TRAVIS_JOB_NAME}"),
            ("run_id", "{TRAVIS_BUILD_ID}"),
            ("run_url", "{TRAVIS_BUILD_WEB_URL}"),
        ],
        branch: &["{TRAVIS_PULL_REQUEST_BRANCH}", "{TRAVIS_BRANCH}"],
        tag: "refs/tags/{TRAVIS_TAG}",
        commit: "{TRAVIS_COMMIT}",
        // The address of the repository is in no variable.
        repository: "",
    },
    CiSystem {
        name: "azure-pipelines",
        marker: "TF_BUILD",
        fields: &[
            ("build_number", "{BUILD_BUILDNUMBER}"),
            ("job_name", "{AGENT_JOBNAME}"),
            ("run_id", "{BUILD_BUILDID}"),
            ("triggered_by", "{BUILD_REQUESTEDFOR}"),
            ("agent", "{AGENT_NAME}"),
            (
                "run_url",
                "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECTID}/_build/results?buildId={BUILD_BUILDID}",
            ),
        ],
        branch: &["{SYSTEM_PULLREQUEST_SOURCEBRANCH}", "{BUILD_SOURCEBRANCH}"],
        tag: "{BUILD_SOURCEBRANCH}",
        commit: "{BUILD_SOURCEVERSION}",
        repository: "{BUILD_REPOSITORY_URI}",
    },
    CiSystem {
        name: "bitrise",
        marker: "BITRISE_IO",
        fields: &[
            ("build_number", "{BITRISE_BUILD_NUMBER}"),
            ("job_name", "{BITRISE_TRIGGERED_WORKFLOW_ID}"),
            ("run_id", "{BITRISE_BUILD_SLUG}"),
            ("run_url", "{BITRISE_BUILD_URL}"),
        ],
        branch: &["{BITRISE_GIT_BRANCH}"],
        tag: "refs/tags/{BITRISE_GIT_TAG}",
        commit: "{BITRISE_GIT_COMMIT}",
        repository: "{GIT_REPOSITORY_URL}",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_1_mib_of_a_checkout_is_read_and_nothing_after_the_end_of_the_call() {
        let commit = "ab".repeat(20);
        let (running, ended) = (CancellationToken::new(), CancellationToken::new());
        ended.cancel();

        for (junk, stopping, is_found) in
            [(1, &running, true), (1 << 20, &running, false), (1, &ended, false)]
        {
            let checkout = tempfile::tempdir().expect("a directory");
            let git = checkout.path().join(".git");
            std::fs::create_dir(&git).expect("a directory");
            std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
            let packed = format!("{}\n{commit} refs/heads/main\n", "#".repeat(junk));
            std::fs::write(git.join("packed-refs"), packed).expect("a file");

            let found = find_head(None, checkout.path(), stopping.clone());
            assert_eq!(found.map(|head| head.commit), is_found.then(|| commit.clone()), "{junk}");
        }
    }

    #[test]
    fn only_branches_have_a_branch_name() {
        let cases = [
            ("refs/heads/feature/a", Some("feature/a")),
            ("origin/main", Some("main")),
            ("main", Some("main")),
            ("refs/tags/v1", None),
            ("refs/pull/1/merge", None),
        ];
        for (reference, expected) in cases {
            assert_eq!(branch_name(reference).as_deref(), expected, "{reference}");
        }
    }

    #[test]
    fn names_that_are_not_references_are_refused() {
        for name in [
            "refs/heads/../../config",
            "refs/heads/.invalid",
            "HEAD",
            "refs//a",
            "refs/a\u{202e}b",
            "refs/a\nb",
        ] {
            assert!(!is_reference_name(name), "{name:?}");
        }
        assert!(is_reference_name("refs/heads/release/4"));
    }

    #[test]
    fn addresses_are_public_and_without_credentials() {
        let cases = [
            ("https://me:secret@github.com/a/b.git", Some("https://github.com/a/b.git")),
            ("https://github.com/a/b.git?token=secret#x", Some("https://github.com/a/b.git")),
            ("https://github.com?x@y/z", Some("https://github.com/")),
            ("git@github.com:a/b.git", Some("git@github.com:a/b.git")),
            ("token-9@github.com:a/b.git", Some("github.com:a/b.git")),
            ("ssh://git@github.com:22/a", Some("ssh://github.com:22/a")),
            ("/home/ann/secret/game.git", None),
            ("../game.git", None),
            ("file:///home/ann/game.git", None),
            ("C:\\game.git", None),
            ("ext::sh -c id", None),
            ("ext::id", None),
            ("https://a.example/b\u{1b}[0m", None),
        ];
        for (remote, expected) in cases {
            assert_eq!(public_address(remote).as_deref(), expected, "{remote}");
        }
    }

    #[test]
    fn the_provider_follows_from_the_host() {
        let cases = [
            ("https://gitlab.example/github/b.git", Some("gitlab")),
            ("git@github.com:a/b.git", Some("github")),
            ("https://dev.azure.com/a", Some("azure-devops")),
            ("https://example.org/a", None),
        ];
        for (address, expected) in cases {
            assert_eq!(provider(address), expected, "{address}");
        }
    }
}
