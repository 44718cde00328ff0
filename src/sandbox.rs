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
mod http;
mod model;
pub mod seed;

pub use answers::answer::{Answer, AnswerResult, Answered, ApiError, Caller, FileConditions};
pub use http::{
    authentication::keys,
    reply::{Exchange, Observer},
    server::{Sandbox, start},
};
pub use model::world::{Options, World};
