//! The tools in the form of the files in `tools/`, which the build script embeds.

/// A tool as the files in `tools/` describe it.
#[derive(Debug)]
pub struct EmbeddedTool {
    /// Path of the file in `tools/`, without its extension.
    path: &'static str,
    /// Description that a model reads, with the names of all tools.
    pub(super) description: &'static str,
    /// JSON of the schema that arguments are checked against.
    pub(super) arguments: &'static str,
    /// JSON of the complete schema of the answer.
    pub(super) answer: &'static str,
    /// The tool as hosts receive it.
    pub published: &'static [Segment],
}

/// A part of the JSON of a tool.
#[derive(Clone, Copy, Debug)]
pub enum Segment {
    /// JSON that does not depend on what a server offers.
    Fixed(&'static str),
    /// Plain text that describes the tool and names other tools.
    Description(&'static str),
    /// Plain text that describes an argument and names other tools.
    ArgumentDescription(&'static str),
    /// JSON of the argument that the tool has in global scope only.
    ProjectArgument(&'static str),
}

include!(concat!(env!("OUT_DIR"), "/embedded_tools.rs"));

/// Returns the tool whose file is `path` in `tools/`, without the extension. Returns `None` until there is a file.
pub(super) const fn find(folder: &str, name: &str) -> Option<&'static EmbeddedTool> {
    let mut rest = EMBEDDED_TOOLS;
    while let [tool, others @ ..] = rest {
        if is_path(tool.path.as_bytes(), folder.as_bytes(), name.as_bytes()) {
            return Some(tool);
        }
        rest = others;
    }

    None
}

/// Returns whether `path` is `folder` followed by `name`. Constants are computed without the operators of the standard
/// library.
const fn is_path(mut path: &[u8], mut folder: &[u8], mut name: &[u8]) -> bool {
    while let ([first, folder_rest @ ..], [byte, path_rest @ ..]) = (folder, path) {
        if *first != *byte {
            return false;
        }
        (folder, path) = (folder_rest, path_rest);
    }
    while let ([first, name_rest @ ..], [byte, path_rest @ ..]) = (name, path) {
        if *first != *byte {
            return false;
        }
        (name, path) = (name_rest, path_rest);
    }

    path.is_empty() && folder.is_empty() && name.is_empty()
}
