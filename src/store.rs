//! The store that several HTTP servers share: Redis or Valkey.
//!
//! - `url` is the address of the store, with its password; `certificates` are those that the store is checked with.
//! - `connection` opens the connection, with pauses after failures.
//! - `health` reports whether the store is available.
//! - `redis_store` implements the operations.

mod certificates;
mod connection;
mod health;
mod redis_store;
mod url;

pub use health::StoreHealth;
pub use redis_store::RedisStore;
pub use url::StoreUrl;
