//! Limits that several parts of the client share.

use std::time::Duration;

/// Maximum size of a response body that is read into memory, in bytes.
pub const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// Time limit of one call with all its requests and pauses. MCP hosts give up after 60 s.
pub const CALL_LIMIT: Duration = Duration::from_secs(45);
