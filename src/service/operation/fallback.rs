//! The replacement of an operation that the service may not have.

/// A list that contains the record which an operation would return.
///
/// The list is read if the service answers 404 or 405, because the service does not have every operation in every
/// deployment (supplement 5.2).
#[derive(Clone, Copy, Debug)]
pub struct Fallback {
    /// Name of the operation that lists the records.
    pub list: &'static str,
    /// Argument that holds the id.
    pub argument: &'static str,
    /// Field of a listed record that holds the id.
    pub field: &'static str,
}
