//! Calls of operations, from the arguments to the reply.
//!
//! - `checking` checks arguments without a request.
//! - `sending` resolves the project, sends the request and makes the reply.
//! - `guarded` does the same. If the call repeats a call of unknown outcome, it first asks the service whether that call
//!   happened.
//! - `key_selection` selects the key that serves a call, if the caller has several ones.
//! - `shared_memory` holds what several processes remember together.
//! - `artifact` opens a file of a run as a stream.

mod artifact;
mod checking;
mod configured;
mod granted;
mod guarded;
mod handle;
mod key_selection;
mod list_probe;
mod probe;
mod refused_change;
mod sending;
mod shared_memory;

pub use artifact::{Artifact, OpenRefusal};
pub use checking::CheckedArguments;
pub use handle::Gateway;
