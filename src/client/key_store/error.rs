//! Errors of the store of keys. No text contains a key.

use std::path::PathBuf;

use thiserror::Error;

/// Why a stored key cannot be read, written or removed.
#[derive(Debug, Error)]
pub enum KeyStoreError {
    /// There is no keychain.
    #[error("there is no keychain: {0}")]
    NoKeychain(String),
    /// The keychain is locked, or the person has refused the access.
    #[error("the keychain is locked or refuses the access: {0}")]
    NoAccess(String),
    /// Any other failure of the keychain.
    #[error("the keychain cannot be used: {0}")]
    Keychain(String),
    /// The stored text is not what this program writes.
    #[error("the stored key of `{0}` is damaged")]
    Damaged(String),
    /// Other users could read or replace the file with the keys.
    #[error("other users can access {path} (mode {mode:o}), which contains API keys")]
    SharedFile {
        /// Path of the file.
        path: PathBuf,
        /// Permissions of the file.
        mode: u32,
    },
    /// The file with the keys cannot be read or written.
    #[error("{path} {reason}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The reason, as the end of a sentence that begins with the path.
        reason: String,
    },
}

impl KeyStoreError {
    /// Returns what a person can do.
    pub fn hint(&self) -> String {
        match self {
            Self::NoKeychain(_) => {
                "`tas-mcp login --store file` stores the key in a file that only you can read".to_owned()
            }
            Self::NoAccess(_) | Self::Keychain(_) => {
                "unlock the keychain, or store the key in a file: `tas-mcp login --store file`".to_owned()
            }
            Self::Damaged(_) => "store the key again: `tas-mcp login`".to_owned(),
            Self::SharedFile { path, .. } => format!(
                "change that with `chmod 600 {}`, and replace the keys if others may have read them",
                path.display()
            ),
            Self::File { path, .. } => {
                format!("correct or remove {}, and sign in again: `tas-mcp login`", path.display())
            }
        }
    }

    /// Returns whether the keychain, and not a file, has failed.
    pub(in crate::client) fn is_of_keychain(&self) -> bool {
        matches!(self, Self::NoKeychain(_) | Self::NoAccess(_) | Self::Keychain(_))
    }
}
