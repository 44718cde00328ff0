//! The strings, numbers and literals of JSON.

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

/// Returns the position after the quotation mark that ends the string whose first character is at `position`.
pub(super) fn string_end(bytes: &[u8], mut position: usize) -> Option<usize> {
    loop {
        position += plain_length(bytes.get(position..)?);
        match bytes.get(position)? {
            b'"' => return Some(position + 1),
            // Every other escape has a shorter form, or stands for a character that may have to be removed.
            b'\\' if matches!(bytes.get(position + 1)?, b'"' | b'\\' | b'n' | b'r' | b't') => position += 2,
            // A control character, which JSON allows in escaped form only.
            _ => return None,
        }
    }
}

/// Returns the number of bytes before the first quotation mark, backslash or control character. Eight bytes are compared at
/// once, because most strings are too short for a search with vector instructions.
fn plain_length(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return index * size_of::<u64>() + found.trailing_zeros() as usize / 8;
        }
    }

    let length = rest.iter().take_while(|byte| !matches!(byte, 0..b' ' | b'"' | b'\\')).count();
    text.len() - rest.len() + length
}

/// Searches the eight bytes of `word`, from the lowest to the highest, for a quotation mark, a backslash or a control character.
/// The lowest set bit of the result lies in the first byte found. The result is 0 if there is none.
fn special_bytes(word: u64) -> u64 {
    /// Returns the number whose eight bytes all equal `byte`.
    const fn in_all_places(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    // The subtraction sets the highest bit of the first byte below `limit`. Its borrow may set the highest bit of later bytes.
    let below = |word: u64, limit: u8| word.wrapping_sub(in_all_places(limit)) & !word & in_all_places(0x80);
    let equal = |byte: u8| below(word ^ in_all_places(byte), 1);

    below(word, b' ') | equal(b'"') | equal(b'\\')
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
    fn the_first_special_byte_is_found_at_every_place() {
        for length in 0..40 {
            for place in 0..length {
                for special in [b'"', b'\\', b'\n', 0, 0x1f] {
                    let mut text = vec![b'!'; length];
                    // Bytes with the highest bit, and a second special byte, do not hide the first one.
                    text[..place].fill(0xc3);
                    text[place..].fill(b'\\');
                    text[place] = special;
                    assert_eq!(plain_length(&text), place, "{special} at {place} of {length}");
                }
            }
            assert_eq!(plain_length(&vec![b' '; length]), length);
        }
    }
}
