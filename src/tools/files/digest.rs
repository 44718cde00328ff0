//! SHA-256 digests.

use std::io::{self, Read};

use ring::digest::{Context, SHA256};

/// Number of bytes that are read at a time.
const BUFFER_SIZE: usize = 256 * 1024;

/// Returns `bytes` as lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

/// Reads `source` to its end and returns the SHA-256 in hexadecimal digits.
pub(crate) fn sha256(mut source: impl Read) -> io::Result<String> {
    let (mut context, mut buffer) = (Context::new(&SHA256), vec![0; BUFFER_SIZE]);

    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(context.finish())),
            Ok(read) => context.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
