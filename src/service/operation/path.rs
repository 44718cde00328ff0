//! Placeholders in the paths of operations.

/// Placeholder for the setting `TAS_TMSYS_NAME`.
pub const TMSYS: &str = "{tmsys}";

/// Placeholder for the project.
pub const PROJECT: &str = "{project_id}";

/// A placeholder in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// Name of the field.
    pub name: &'a str,
    /// Whether the value may be several segments, written as `{*name}`.
    pub is_several_segments: bool,
}

/// Parses one segment of a path. Returns `None` if the segment is literal text.
pub fn placeholder(segment: &str) -> Option<Placeholder<'_>> {
    let inner = segment.strip_prefix('{')?.strip_suffix('}')?;

    Some(match inner.strip_prefix('*') {
        Some(name) => Placeholder { name, is_several_segments: true },
        None => Placeholder { name: inner, is_several_segments: false },
    })
}

#[cfg(test)]
mod tests {
    use super::{Placeholder, placeholder};

    #[test]
    fn a_placeholder_is_a_name_in_braces() {
        let one = |name| Some(Placeholder { name, is_several_segments: false });
        let several = |name| Some(Placeholder { name, is_several_segments: true });
        let table = [
            ("{run_id}", one("run_id")),
            ("{*filename}", several("filename")),
            ("runs", None),
            ("{run", None),
        ];

        for (segment, expected) in table {
            assert_eq!(placeholder(segment), expected, "{segment}");
        }
    }
}
