//! The service in memory: the same operations, answered by the rules of `docs/service.md`.
//!
//! | module | content | may import |
//! |-|-|-|
//! | `http` | server, routes, authentication, request reading, storage host, injected faults, control routes | every module |
//! | `answers` | the answer to each operation: `impl Answer<Operation> for World` | `model` |
//! | [`seed`] | the records that every sandbox starts with, from `seed.toml` | `model` |
//! | `model` | the state: projects, tests, runs, jobs, builds, ids, simulated time | nothing |
//!
//! A request passes `http::server` (the list of operations as routes), `http::operations`, which asks
//! `http::authentication` (keys and permissions) and `http::request_fields` (path, query and body as fields), and then
//! the module of its resource in `answers`, which answers from the [`World`]. [`Answer`] is the sandbox's side of one operation; the compiler demands one for each.

mod answers;
pub mod seed;

mod http {
    pub(super) mod authentication;
    mod control;
    mod faults;
    mod operations;
    pub(super) mod reply;
    mod request_fields;
    pub(super) mod server;
    mod state;
    mod storage;
}

mod model {
    pub(super) mod builds;
    pub(super) mod job;
    pub(super) mod records;
    pub(super) mod saved_test;
    pub(super) mod test_content;
    pub(super) mod test_management;
    pub(super) mod time;
    pub(super) mod world;
}

pub use answers::answer::{Answer, AnswerResult, Answered, ApiError, Caller, FileConditions};
pub use http::{
    authentication::keys,
    reply::{Exchange, Observer},
    server::{Sandbox, start},
};
pub use model::world::{Options, World};
