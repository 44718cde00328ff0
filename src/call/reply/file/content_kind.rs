//! What the content type of a file says about it.

/// Text types that do not begin with `text/`.
const TEXT_TYPES: [&str; 13] = [
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

/// The kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentKind {
    /// Text, or unknown: the bytes decide.
    PossibleText,
    Picture,
    Other,
}

impl ContentKind {
    /// Returns the kind that a `Content-Type` states.
    pub(super) fn from_content_type(content_type: Option<&str>) -> Self {
        let essence = content_type.and_then(|text| text.split(';').next()).unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        let is_unknown = ["", "application/octet-stream", "binary/octet-stream"].contains(&essence.as_str());
        let has_text_suffix = ["+json", "+xml", "+yaml"].iter().any(|suffix| essence.ends_with(suffix));
        let is_text = essence.starts_with("text/") || TEXT_TYPES.contains(&essence.as_str());

        if is_unknown || has_text_suffix || is_text {
            Self::PossibleText
        } else if essence.starts_with("image/") {
            Self::Picture
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_the_type_without_parameters() {
        for (content_type, expected) in [
            (None, ContentKind::PossibleText),
            (Some("application/octet-stream"), ContentKind::PossibleText),
            (Some("Text/Plain; charset=utf-8"), ContentKind::PossibleText),
            (Some("application/problem+json"), ContentKind::PossibleText),
            // A picture that is text.
            (Some("image/svg+xml"), ContentKind::PossibleText),
            (Some("image/png"), ContentKind::Picture),
            (Some("video/mp4"), ContentKind::Other),
        ] {
            assert_eq!(ContentKind::from_content_type(content_type), expected, "{content_type:?}");
        }
    }
}
