//! Finds the local files that match a pattern.

use std::{
    fs::{self, DirEntry},
    io,
    path::{Component, Path, PathBuf},
};

use regex_lite::Regex;

use super::pattern::{compile, is_pattern};

/// Reason why a search was stopped.
#[derive(Debug)]
pub(crate) enum SearchError {
    /// The pattern is not valid.
    Pattern(String),
    /// A directory that may contain matching files cannot be read.
    Unreadable(PathBuf, io::Error),
}

/// Returns the regular files that match `pattern`, in alphabetical order. Relative patterns begin at `base`.
///
/// # Errors
/// The pattern is not valid, or a directory cannot be read.
pub(crate) fn find_files(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, SearchError> {
    let is_fixed = |component: &Component<'_>| !is_pattern(&component.as_os_str().to_string_lossy());
    let components = Path::new(pattern).components();
    let fixed: PathBuf = components.clone().take_while(is_fixed).collect();
    let variable = components.skip_while(is_fixed);
    let segments: Vec<_> = variable.map(|one| one.as_os_str().to_string_lossy().into_owned()).collect();

    let mut search = PatternSearch::new(&segments).map_err(SearchError::Pattern)?;
    search.visit(&base.join(fixed), "")?;

    Ok(search.found)
}

/// A search below the fixed part of a pattern.
struct PatternSearch {
    /// Matches the names of the files.
    files: Regex,
    /// Match the names of the directories that may contain matching files.
    directories: Vec<Regex>,
    /// Resolved paths of the directories that are being visited.
    ancestors: Vec<PathBuf>,
    found: Vec<PathBuf>,
}

impl PatternSearch {
    /// Compiles the pattern that consists of `segments`.
    fn new(segments: &[String]) -> Result<Self, String> {
        let files = compile(&segments.join("/"))?;

        let mut directories = Vec::new();
        for length in 1..=segments.len() {
            let (prefix, rest) = segments.split_at(length);
            if !rest.is_empty() || prefix.last().is_some_and(|last| last == "**") {
                directories.push(compile(&prefix.join("/"))?);
            }
        }

        Ok(Self { files, directories, ancestors: Vec::new(), found: Vec::new() })
    }

    /// Adds the matching files below `directory`, which has the name `relative` in terms of the pattern.
    fn visit(&mut self, directory: &Path, relative: &str) -> Result<(), SearchError> {
        // A link to an ancestor would lead to an endless search.
        let resolved = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        if self.ancestors.contains(&resolved) {
            return Ok(());
        }

        self.ancestors.push(resolved);
        for entry in sorted_entries(directory)? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            let path = entry.path();
            if path.is_dir() {
                if self.directories.iter().any(|directory| directory.is_match(&name)) {
                    self.visit(&path, &name)?;
                }
            } else if self.files.is_match(&name) && path.is_file() {
                self.found.push(path);
            }
        }
        self.ancestors.pop();

        Ok(())
    }
}

/// Returns the entries of a directory in alphabetical order; none if there is no such directory.
fn sorted_entries(directory: &Path) -> Result<Vec<DirEntry>, SearchError> {
    let entries = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);

    match entries {
        Ok(mut entries) => {
            entries.sort_by_key(DirEntry::file_name);
            Ok(entries)
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(SearchError::Unreadable(directory.to_owned(), error)),
    }
}
