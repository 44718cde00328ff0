//! The addresses below which paths begin.

/// The address below which the path of an operation begins (supplement 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlBase {
    /// `{base_url}/project/{projectId}`, or `{base_url}` if the key decides the project.
    Project,
    /// `{base_url}/project/{projectId}` only. The request has no other place for the project.
    NamedProject,
    /// `{base_url}`, without a project.
    Base,
    /// `{knowledge_url}`, the host of knowledge files and run artifacts.
    Knowledge,
}
