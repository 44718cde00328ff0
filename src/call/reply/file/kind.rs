//! What a file is, as far as its type says.

/// Types of text that do not begin with `text/`.
const TEXTS: [&str; 13] = [
    "application/csv",
    "application/javascript",
    "application/json",
    "application/jsonl",
    "application/ndjson",
    "application/sql",
    "application/toml",
    "application/x-log",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
];

/// What a file is, as its type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text, or not known: the bytes decide.
    PerhapsText,
    Picture,
    Other,
}

impl Kind {
    /// What a file of this `Content-Type` is.
    pub(super) fn of(content_type: Option<&str>) -> Self {
        let essence = content_type.and_then(|text| text.split(';').next()).unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        let unknown = ["", "application/octet-stream", "binary/octet-stream"].contains(&essence.as_str());
        let suffixed = ["+json", "+xml", "+yaml"].iter().any(|suffix| essence.ends_with(suffix));

        if unknown || suffixed || essence.starts_with("text/") || TEXTS.contains(&essence.as_str()) {
            Self::PerhapsText
        } else if essence.starts_with("image/") {
            Self::Picture
        } else {
            Self::Other
        }
    }
}
