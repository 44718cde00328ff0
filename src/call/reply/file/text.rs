//! Text in the bytes of a file, cut between characters.

use crate::call::reply::json_length::character_length;

/// Largest number of bytes of a UTF-8 character after its first byte.
const MAX_CONTINUATION_BYTES: usize = 3;

/// The text in some bytes of a file. Characters that begin before the bytes or end after them are left out.
pub(super) struct TextPart<'a> {
    /// Bytes that were left out before the text.
    pub(super) skipped: usize,
    pub(super) text: &'a str,
}

impl<'a> TextPart<'a> {
    /// Decodes `bytes`. `is_inside` tells whether they come from inside a file, so that the first character may be
    /// incomplete. Returns `None` if they are not text.
    pub(super) fn decode(bytes: &'a [u8], is_inside: bool) -> Option<Self> {
        let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let skipped = if is_inside {
            bytes.iter().take(MAX_CONTINUATION_BYTES).take_while(is_continuation).count()
        } else {
            0
        };
        let bytes = bytes.get(skipped..)?;

        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // No `error_len`: only the last character is incomplete.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
            }
            Err(_) => return None,
        };

        // Text contains no zero bytes; binary files often begin with valid UTF-8.
        (!text.contains('\0')).then_some(Self { skipped, text })
    }
}

/// Returns how many bytes of a text to show: whole characters, at least one, at most `max_bytes`, and at most
/// `max_chars` characters as JSON.
pub(super) fn fitting_length(text: &str, max_bytes: usize, max_chars: usize) -> usize {
    let mut used = 0;
    for (position, character) in text.char_indices() {
        used += character_length(character);
        if position > 0 && (position + character.len_utf8() > max_bytes || used > max_chars) {
            return position;
        }
    }

    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_characters_at_both_ends_are_left_out() {
        let bytes = "äöü".as_bytes();
        for (part, is_inside, expected) in [
            (bytes, false, Some((0, "äöü"))),
            (&bytes[1..], true, Some((1, "öü"))),
            (&bytes[1..], false, None),
            (&bytes[..5], false, Some((0, "äö"))),
            (b"a\xffb".as_slice(), false, None),
            (b"a\0b".as_slice(), false, None),
        ] {
            let text = TextPart::decode(part, is_inside).map(|text| (text.skipped, text.text));
            assert_eq!(text, expected, "{part:?}");
        }
    }

    #[test]
    fn a_part_ends_between_characters_and_is_never_empty() {
        for (text, max_bytes, max_chars, expected) in [
            ("abc", 2, 9, 2),
            ("äöü", 3, 9, 2),
            ("äöü", 1, 9, 2),
            ("a\"b", 9, 3, 2),
            ("\"b", 9, 1, 1),
            ("abc", 9, 9, 3),
        ] {
            assert_eq!(fitting_length(text, max_bytes, max_chars), expected, "{text}");
        }
    }
}
