//! The git checkout that contains a file.

use std::path::Path;

use super::{git_config::origin_address, git_directory::GitDirectory, remote_address::public_address};

/// A git checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    /// Object identifier of the commit.
    pub commit: String,
    /// The branch; `None` if a commit is checked out directly.
    pub branch: Option<String>,
    /// A tag of the commit.
    pub tag: Option<String>,
    /// Address of the remote `origin`, without credentials.
    pub remote: Option<String>,
}

/// Returns the checkout that contains `directory`, or `None` if there is none or it cannot be read. Nothing outside of
/// `boundary` is read. Without a boundary, nothing outside of the checkout is read.
#[must_use]
pub(crate) fn find_checkout(boundary: Option<&Path>, directory: &Path) -> Option<Checkout> {
    let is_inside = |ancestor: &&Path| boundary.is_none_or(|boundary| ancestor.starts_with(boundary));
    let has_git = |ancestor: &&Path| ancestor.join(".git").symlink_metadata().is_ok();
    let checkout = directory.ancestors().take_while(is_inside).find(has_git)?;

    let git = GitDirectory::open(boundary.unwrap_or(checkout), checkout)?;
    let commit = git.head_commit()?;
    let branch = git.head_reference().and_then(|name| Some(name.strip_prefix("refs/heads/")?.to_owned()));
    let tag = git.tag_of(&commit);
    let remote = git.config().and_then(|config| public_address(&origin_address(&config)?));

    Some(Checkout { commit, branch, tag, remote })
}
