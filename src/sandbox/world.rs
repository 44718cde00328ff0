//! The state of the sandbox.

/// Everything that the sandbox remembers.
#[derive(Debug, Default)]
pub struct World;
