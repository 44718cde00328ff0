//! Values of placeholders in paths.

use serde_json::Value;

use crate::{
    fields::Fields,
    service::{operation::Placeholder, request::encoding::encoded},
};

/// Maximum length of one path segment in bytes. Ids are much shorter.
const MAX_SEGMENT_BYTES: usize = 300;

/// Returns the encoded value of a placeholder, or the rule that the value breaks.
pub(super) fn path_value(arguments: &Fields, placeholder: Placeholder<'_>) -> Result<String, String> {
    // The schema check has already reported an absent id.
    let Some(text) = arguments.get(placeholder.name).and_then(Value::as_str) else {
        return Ok(String::new());
    };

    if !placeholder.is_several_segments {
        return check_segment(text).map(|()| encoded(text));
    }

    let segments: Vec<_> = text.split('/').collect();
    match segments.iter().try_for_each(|segment| check_segment(segment)) {
        Ok(()) => Ok(segments.into_iter().map(encoded).collect::<Vec<_>>().join("/")),
        // A single segment has a more precise rule than the whole name.
        Err(rule) if segments.len() == 1 => Err(rule),
        Err(_) => Err(format!(
            "must be a relative name: no segment between `/` may be empty, `.`, `..` or longer than \
             {MAX_SEGMENT_BYTES} bytes"
        )),
    }
}

/// Checks that `text` can be an id in a path.
///
/// # Errors
/// The rule that `text` breaks.
pub fn check_segment(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("must not be empty".to_owned())
    } else if text == "." || text == ".." {
        // Clients and servers resolve these segments even if they are percent-encoded.
        Err(format!("`{text}` cannot be an id"))
    } else if text.len() > MAX_SEGMENT_BYTES {
        Err(format!("must have at most {MAX_SEGMENT_BYTES} bytes, got {}", text.len()))
    } else {
        Ok(())
    }
}
