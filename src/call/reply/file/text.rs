//! Text in bytes of a file, by whole characters.

/// Most bytes of a character in UTF-8, less one.
const REST_OF_CHARACTER: usize = 3;

/// The text that bytes of a file hold, without what is left of a character that begins before them or ends after them.
pub(super) struct Text<'a> {
    /// Bytes that were cut off before it.
    pub(super) before: usize,
    pub(super) text: &'a str,
}

impl<'a> Text<'a> {
    /// The text in bytes from the beginning of a file, or from within; `None` when there is other than text.
    pub(super) fn of(bytes: &'a [u8], is_within: bool) -> Option<Self> {
        let is_rest = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        let before = if is_within {
            bytes.iter().take(REST_OF_CHARACTER).take_while(|byte| is_rest(byte)).count()
        } else {
            0
        };
        let bytes = bytes.get(before..)?;
        let whole = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
            }
            Err(_) => return None,
        };

        (!whole.contains('\0')).then_some(Self { before, text: whole })
    }
}

/// How many bytes of a text make whole characters, at least one, that are no longer than asked for and than the room
/// that there is in JSON.
pub(super) fn fitting(text: &str, length: usize, room: usize) -> usize {
    let mut used = 0;
    for (at, one) in text.char_indices() {
        used += escaped(one);
        if at > 0 && (at + one.len_utf8() > length || used > room) {
            return at;
        }
    }

    text.len()
}

/// Characters that a text takes in JSON.
pub(super) fn escaped_length(text: &str) -> usize {
    text.chars().map(escaped).sum()
}

/// Characters that a character takes in JSON; other control characters are taken out of replies.
const fn escaped(one: char) -> usize {
    if matches!(one, '"' | '\\' | '\n' | '\r' | '\t') { 2 } else { 1 }
}
