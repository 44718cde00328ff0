//! tas-mcp
fn main() {}
