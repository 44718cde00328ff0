//! MCP over standard input and output, one JSON-RPC message per line.

mod line_buffer;
mod open_requests;
mod session;
mod transport;
mod writer;

pub use self::session::serve_stdio;
