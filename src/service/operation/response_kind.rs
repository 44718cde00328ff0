//! The content of successful responses.

/// The content of a successful response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// A JSON object.
    Json,
    /// A JSON object or any other content. The status alone states the outcome.
    Status,
    /// A redirect that is not followed. Its `Location` is the result.
    Redirect,
    /// A file, of which one range is requested. The arguments `offset` and `length` select the range.
    File,
}

/// The place of pictures in a JSON answer.
///
/// Each picture is an object of `data`, `mimeType` and `encoding`. Callers receive pictures as images, not as text.
#[derive(Clone, Copy, Debug)]
pub struct Pictures {
    /// Field of the answer that holds the records.
    pub list: &'static str,
    /// Field of a record that holds a picture.
    pub field: &'static str,
}
