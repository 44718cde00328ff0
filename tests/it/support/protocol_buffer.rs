//! Reads protocol buffers by the numbers of their fields, independently of the library that writes them.

/// The content of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    Number(u64),
    /// A text, bytes or a message.
    Bytes(&'a [u8]),
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a>(pub(crate) &'a [u8]);

impl<'a> Message<'a> {
    /// Returns the contents of the fields with this number.
    fn contents(self, wanted: u64) -> Vec<Content<'a>> {
        let mut rest = self.0;
        let mut found = Vec::new();
        while !rest.is_empty() {
            let tag = variable_number(&mut rest);
            let content = match tag & 7 {
                0 => Content::Number(variable_number(&mut rest)),
                1 => Content::Number(fixed_number(take(&mut rest, 8))),
                2 => {
                    let length = variable_number(&mut rest);
                    Content::Bytes(take(&mut rest, usize::try_from(length).expect("a length")))
                }
                5 => Content::Number(fixed_number(take(&mut rest, 4))),
                other => panic!("unknown type {other}"),
            };
            if tag >> 3 == wanted {
                found.push(content);
            }
        }
        found
    }

    /// Returns the bytes of the fields with this number.
    pub(crate) fn all(self, field: u64) -> Vec<&'a [u8]> {
        let bytes = |content| match content {
            Content::Bytes(bytes) => Some(bytes),
            Content::Number(_) => None,
        };
        self.contents(field).into_iter().filter_map(bytes).collect()
    }

    /// Returns the messages in the fields with this number.
    pub(crate) fn messages(self, field: u64) -> impl Iterator<Item = Self> {
        self.all(field).into_iter().map(Self)
    }

    /// Returns the number in a field; 0 if there is none.
    pub(crate) fn number(self, field: u64) -> u64 {
        let number = |content: &Content<'_>| match content {
            Content::Number(number) => Some(*number),
            Content::Bytes(_) => None,
        };
        self.contents(field).iter().find_map(number).unwrap_or_default()
    }

    /// Returns the text of a field; empty if there is none.
    pub(crate) fn text(self, field: u64) -> String {
        let bytes = self.all(field).first().copied().unwrap_or_default();
        String::from_utf8(bytes.to_vec()).expect("UTF-8")
    }

    /// Returns the bytes of a field in hexadecimal digits; empty if there are none.
    pub(crate) fn digits(self, field: u64) -> String {
        let bytes = self.all(field).first().copied().unwrap_or_default();
        let digit = |number: u8| char::from(b"0123456789abcdef"[usize::from(number)]);
        bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(length);
    *rest = after;
    taken
}

fn fixed_number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn variable_number(rest: &mut &[u8]) -> u64 {
    let end = rest.iter().position(|byte| byte & 0x80 == 0).expect("an end");
    take(rest, end + 1).iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f))
}
