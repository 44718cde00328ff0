//! A file that a player produces, and its bytes.

use std::ops::Range;

use axum::body::Bytes;

use crate::sandbox::model::ids::hash;

/// Number of bytes that one hash provides.
const BLOCK: u64 = size_of::<u64>() as u64;

/// A file that a player produces.
#[derive(Debug)]
pub(crate) struct ArtifactFile {
    /// Name with its directories.
    pub(super) name: &'static str,
    pub(super) content_type: &'static str,
    pub(super) etag: String,
    pub(super) content: FileContent,
}

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum FileContent {
    /// Bytes in memory.
    InMemory(Bytes),
    /// `size` bytes that follow from the seed and are generated when they are read.
    Generated { seed: u64, size: u64 },
}

impl FileContent {
    /// Returns the number of bytes.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::InMemory(bytes) => bytes.len() as u64,
            Self::Generated { size, .. } => *size,
        }
    }

    /// Returns the bytes of `span`, which lies inside the file.
    pub(super) fn read(&self, span: &Range<u64>) -> Bytes {
        match self {
            Self::InMemory(bytes) => {
                let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                bytes.slice(index(span.start)..index(span.end))
            }
            // Only the requested bytes are generated, so that a long recording takes no memory.
            Self::Generated { seed, .. } => {
                let bytes = (span.start / BLOCK..).flat_map(|block| generate_block(*seed, block));
                let offset = usize::try_from(span.start % BLOCK).unwrap_or_default();
                let length = usize::try_from(span.end - span.start).unwrap_or_default();
                bytes.skip(offset).take(length).collect()
            }
        }
    }
}

fn generate_block(seed: u64, block: u64) -> [u8; size_of::<u64>()] {
    hash(&[&seed.to_string(), &block.to_string()]).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_generated_bytes_is_a_slice_of_all_bytes() {
        let content = FileContent::Generated { seed: 7, size: 100 };
        let whole = content.read(&(0..100));

        assert_eq!(whole.len(), 100);
        for (start, end) in [(0, 8), (3, 4), (7, 23), (99, 100)] {
            let part = content.read(&(start as u64..end as u64));
            assert_eq!(part, whole.slice(start..end), "{start}..{end}");
        }
    }
}
