//! Reads lines of limited length.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Maximum length of a line, in bytes. A line without an end must not exhaust the memory.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Capacity that the buffer keeps after a long line.
const KEPT_CAPACITY: usize = 64 * 1024;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadLine {
    /// The buffer contains a complete line.
    Complete,
    /// A line was longer than [`MAX_LINE_BYTES`] and was skipped.
    TooLong,
    /// The input has ended.
    EndOfInput,
}

/// Buffer for one line. Dropping the future of [`Self::read`] loses no input: the next read continues the line.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// Whether the rest of a line that is too long is still to be skipped.
    skipping: bool,
}

impl LineBuffer {
    /// Returns the line without its end and without white space around it.
    pub(super) fn line(&self) -> &[u8] {
        self.bytes.trim_ascii()
    }

    /// Removes the line and releases the memory of a long line.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_CAPACITY);
    }

    /// Reads until the end of a line. The last line needs no line feed.
    ///
    /// # Errors
    /// Every error of the reader.
    pub(super) async fn read(
        &mut self,
        reader: &mut (impl AsyncBufRead + Unpin),
    ) -> std::io::Result<ReadLine> {
        loop {
            let available = reader.fill_buf().await?;
            if available.is_empty() {
                let has_line = !self.skipping && !self.line().is_empty();
                return Ok(if has_line { ReadLine::Complete } else { ReadLine::EndOfInput });
            }

            let end = available.iter().position(|byte| *byte == b'\n');
            let consumed = end.map_or(available.len(), |end| end + 1);
            if !self.skipping {
                self.bytes.extend_from_slice(available.get(..consumed).unwrap_or_default());
            }
            reader.consume(consumed);

            if self.bytes.len() > MAX_LINE_BYTES {
                // A new buffer releases the memory of the long line.
                self.bytes = Vec::new();
                self.skipping = true;
            }

            match (end, std::mem::take(&mut self.skipping)) {
                (Some(_), true) => return Ok(ReadLine::TooLong),
                (Some(_), false) => return Ok(ReadLine::Complete),
                (None, skipping) => self.skipping = skipping,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::{LineBuffer, MAX_LINE_BYTES, ReadLine};

    #[tokio::test]
    async fn lines_are_read_one_by_one_and_long_lines_are_skipped() {
        let long = "x".repeat(MAX_LINE_BYTES + 1);
        let input = format!("one\n\n{long}\n two \r\nlast");
        let mut reader = BufReader::with_capacity(1 << 20, input.as_bytes());
        let mut buffer = LineBuffer::default();

        let expected = [
            (ReadLine::Complete, "one"),
            (ReadLine::Complete, ""),
            (ReadLine::TooLong, ""),
            (ReadLine::Complete, "two"),
            (ReadLine::Complete, "last"),
            (ReadLine::EndOfInput, ""),
        ];
        for (read, line) in expected {
            buffer.clear();
            assert_eq!(buffer.read(&mut reader).await.expect("input"), read);
            assert_eq!(buffer.line(), line.as_bytes());
        }
    }
}
