//! SHA-256, as callers read it.

use std::io::{self, Read};

use ring::digest::{Context, SHA256};

/// Bytes that are read at a time.
const PIECE: usize = 256 * 1024;

/// Bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

/// The SHA-256 of everything that follows.
pub fn sha256(mut rest: impl Read) -> io::Result<String> {
    let (mut context, mut piece) = (Context::new(&SHA256), vec![0; PIECE]);
    loop {
        match rest.read(&mut piece) {
            Ok(0) => return Ok(hexadecimal(context.finish())),
            Ok(read) => context.update(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
