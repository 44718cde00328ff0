//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663).
//!
//! A host that declares the extension in a request without `initialize` gets a task instead of an answer if
//! `wait_for_completion` would wait longer than a call may last. Shorter waits are answered, because a task costs the
//! host and the model further requests.
//!
//! The id of a task is its whole state: the arguments and the time of the call, sealed with a key that is derived from
//! the API key. A task therefore survives a restart, and every server with the same API key can continue it. No work
//! runs between two requests: `tasks/get` polls the service once.
//!
//! Cancelling a task ends the polling, not the runs. The process remembers a cancelled task until its id expires. After a
//! restart, a request with the same id would poll again. Hosts do not send such requests for a task that they have
//! cancelled.

mod capability;
mod poller;
mod progress_capture;
mod service;
mod state;
mod store;
mod token;

pub(super) use self::{
    capability::{METHODS, declare, withdraw},
    service::{TaskService, TaskStart, may_become_task},
};
