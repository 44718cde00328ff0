//! The strings, numbers and literals of JSON.

/// Number of bytes that are compared at once.
const WORD_BYTES: usize = size_of::<u64>();

/// Returns the position after the string, number or literal at `position`.
pub(super) fn scalar_end(bytes: &[u8], position: usize) -> Option<usize> {
    let rest = bytes.get(position..)?;
    match rest.first()? {
        b'"' => string_end(bytes, position + 1),
        b'-' | b'0'..=b'9' => Some(position + number_length(rest)?),
        _ => {
            let literal =
                ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word.as_bytes()))?;
            Some(position + literal.len())
        }
    }
}

/// Returns the position after the quotation mark that ends the string whose first character is at `position`. Eight bytes are
/// compared at once, because most strings are too short for a search with vector instructions.
pub(super) fn string_end(bytes: &[u8], mut position: usize) -> Option<usize> {
    loop {
        let found = special_bytes(word_at(bytes, position)?);
        if found == 0 {
            position += WORD_BYTES;
            continue;
        }

        position += found.trailing_zeros() as usize / 8;
        match bytes.get(position)? {
            b'"' => return Some(position + 1),
            // Every other escape has a shorter form, or stands for a character that may have to be removed.
            b'\\' if matches!(bytes.get(position + 1)?, b'"' | b'\\' | b'n' | b'r' | b't') => position += 2,
            // A control character, which JSON allows in escaped form only.
            _ => return None,
        }
    }
}

/// Returns the eight bytes at `position`. The bytes after the end of the text are zero, like a control character.
fn word_at(bytes: &[u8], position: usize) -> Option<u64> {
    let rest = bytes.get(position..)?;
    let word = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut word = [0; WORD_BYTES];
        word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        word
    });

    Some(u64::from_le_bytes(word))
}

/// Searches the eight bytes of `word`, from the lowest to the highest, for a quotation mark, a backslash or a control character.
/// The lowest set bit of the result lies in the first byte found. The result is 0 if there is none.
fn special_bytes(word: u64) -> u64 {
    /// The bit in which a quotation mark differs from a space.
    const QUOTATION_BIT: u8 = b'"' ^ b' ';

    /// Returns the number whose eight bytes all equal `byte`.
    const fn in_all_places(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    // The subtraction sets the highest bit of the first byte below `limit`. Its borrow may set the highest bit of later bytes.
    let below = |word: u64, limit: u8| word.wrapping_sub(in_all_places(limit)) & !word;
    // With this bit inverted, a quotation mark becomes a space, which directly follows the control characters. A control
    // character becomes another control character.
    let control_or_quotation = below(word ^ in_all_places(QUOTATION_BIT), b' ' + 1);
    let backslash = below(word ^ in_all_places(b'\\'), 1);

    (control_or_quotation | backslash) & in_all_places(0x80)
}

/// Returns the length of the number at the beginning of `text`. Returns `None` for an exponent, which the library writes in
/// its own way.
fn number_length(text: &[u8]) -> Option<usize> {
    let digits = |start: usize| {
        let rest = text.get(start..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let start = usize::from(text.first() == Some(&b'-'));
    let whole = digits(start);
    let has_leading_zero = whole > 1 && text.get(start) == Some(&b'0');
    if whole == 0 || has_leading_zero {
        return None;
    }

    let mut end = start + whole;
    if text.get(end) == Some(&b'.') {
        let decimals = digits(end + 1);
        if decimals == 0 {
            return None;
        }
        end += 1 + decimals;
    }

    (!matches!(text.get(end), Some(b'e' | b'E'))).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_its_first_quotation_mark_at_every_place() {
        for length in 0..40 {
            for place in 0..length {
                // Bytes with the highest bit do not hide the end, and a control character after it is not read.
                for (filler, rest) in [(b'!', b'"'), (0xc3, b'\\'), (b' ', 0x1f), (0x7f, b'!')] {
                    let mut text = vec![filler; length];
                    text[place..].fill(rest);
                    text[place] = b'"';
                    assert_eq!(string_end(&text, 0), Some(place + 1), "{filler} before {place} of {length}");
                }
            }
        }
    }

    #[test]
    fn a_string_without_an_end_or_with_a_control_character_is_refused() {
        for length in 0..40 {
            assert_eq!(string_end(&vec![b'!'; length], 0), None, "{length}");

            for place in 0..length {
                for character in [0, 1, b'\n', 0x1f] {
                    let mut text = vec![b'!'; length];
                    text[place] = character;
                    text.push(b'"');
                    assert_eq!(string_end(&text, 0), None, "{character} at {place} of {length}");
                }
            }
        }
    }

    #[test]
    fn an_escaped_character_does_not_end_a_string() {
        for place in 0..20 {
            for (escape, is_kept) in
                [(r#"\""#, true), (r"\\", true), (r"\n", true), (r"\/", false), (r"\u0041", false)]
            {
                let text = format!("{}{escape}\"", "!".repeat(place));
                let expected = is_kept.then_some(text.len());
                assert_eq!(string_end(text.as_bytes(), 0), expected, "{text}");
            }
        }
    }
}
