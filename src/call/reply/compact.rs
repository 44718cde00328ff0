//! Compacts and checks JSON of the service in one pass, without building values.

mod scalar;

use std::ops::Range;

use self::scalar::{scalar_end, string_end};

/// Deepest nesting that a parser of JSON accepts here, as that of the library does.
const MAX_DEPTH: usize = 127;

/// Largest number of values of a text that is passed on. Longer texts are parsed, which limits their values.
const MAX_VALUES: usize = 100_000;

/// Number of fields for which there is room in the beginning. Few answers have more.
const FIELDS_CAPACITY: usize = 32;

/// JSON without white space between its tokens. Strings and numbers are copied unchanged.
#[derive(Debug)]
pub(super) struct CompactJson {
    pub(super) text: String,
    /// The fields, if the text is an object.
    fields: Vec<FieldRange>,
}

/// Where a field of an object is in its text.
#[derive(Debug)]
struct FieldRange {
    /// The name, without its quotation marks.
    name: Range<usize>,
    value: Range<usize>,
}

impl CompactJson {
    /// Returns the name and the JSON value of each field of the object. Returns nothing if the text is not an object.
    pub(super) fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &str)> + Clone {
        let part = |range: &Range<usize>| self.text.get(range.clone()).unwrap_or_default();
        self.fields.iter().map(move |field| (part(&field.name), part(&field.value)))
    }

    pub(super) fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }
}

/// Compacts JSON.
///
/// Returns `None` for a text that is not JSON, and for one that parsing and serialising would change in another way, such as
/// one with escaped characters that need no escape. Only fields of the same name in one object stay.
pub(super) fn compact(json: &str) -> Option<CompactJson> {
    let mut compactor = Compactor {
        json,
        compact: CompactJson {
            text: String::with_capacity(json.len()),
            fields: Vec::with_capacity(FIELDS_CAPACITY),
        },
        copied: 0,
        position: 0,
        objects: 0,
        depth: 0,
        values: 1,
    };
    compactor.read_text()?;

    Some(compactor.compact)
}

/// Reads the tokens of a text from the first to the last.
struct Compactor<'a> {
    json: &'a str,
    compact: CompactJson,
    /// Number of bytes that were copied or left out.
    copied: usize,
    /// Position of the byte that is read next.
    position: usize,
    /// One bit for each open list (0) or object (1), the innermost one last.
    objects: u128,
    depth: usize,
    /// One value, and one more for each comma.
    values: usize,
}

impl Compactor<'_> {
    fn read_text(&mut self) -> Option<()> {
        self.read_value()?;
        while self.depth > 0 {
            match self.next()? {
                b',' => {
                    self.begin_item()?;
                    self.read_value()?;
                }
                b'}' if self.is_in_object() => self.close(),
                b']' if !self.is_in_object() => self.close(),
                _ => return None,
            }
        }

        if self.peek().is_some() {
            return None;
        }
        self.copy_until(self.position)
    }

    /// Reads a value. Of a list or an object with items, only the beginning up to the first value without items is read.
    fn read_value(&mut self) -> Option<()> {
        loop {
            let (is_object, end) = match self.next()? {
                b'{' => (true, b'}'),
                b'[' => (false, b']'),
                _ => {
                    self.position = scalar_end(self.json.as_bytes(), self.position - 1)?;
                    return Some(());
                }
            };

            self.open(is_object)?;
            if self.next_is(end)? {
                self.close();
                return Some(());
            }
            if is_object {
                self.read_name()?;
            }
        }
    }

    /// Notes the end of the value before a comma, and counts the value after it. In an object, reads the name of the next field.
    fn begin_item(&mut self) -> Option<()> {
        self.end_field_value();
        self.values += 1;
        if self.is_in_object() {
            self.read_name()?;
        }

        (self.values <= MAX_VALUES).then_some(())
    }

    /// Reads the name of a field and the colon after it.
    fn read_name(&mut self) -> Option<()> {
        if self.next()? != b'"' {
            return None;
        }
        let start = self.position;
        let compact_start = self.compact_position(start);
        self.position = string_end(self.json.as_bytes(), start)?;
        let end = self.position - 1;

        if self.next()? != b':' {
            return None;
        }

        if self.depth == 1 {
            let name = self.json.get(start..end)?;
            // Field names are compared by their JSON text. With escape sequences, one name can have several texts.
            if name.contains('\\') {
                return None;
            }
            let value_start = self.compact_position(self.position);
            let name = compact_start..compact_start + name.len();
            self.compact.fields.push(FieldRange { name, value: value_start..value_start });
        }

        Some(())
    }

    /// Notes that the value ends before the byte that was read last.
    fn end_field_value(&mut self) {
        let end = self.compact_position(self.position - 1);
        if let Some(field) = self.compact.fields.last_mut().filter(|_| self.depth == 1) {
            field.value.end = end;
        }
    }

    fn open(&mut self, is_object: bool) -> Option<()> {
        self.depth += 1;
        self.objects = (self.objects << 1) | u128::from(is_object);

        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn close(&mut self) {
        self.end_field_value();
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    /// Reads the next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.position += 1;

        Some(byte)
    }

    /// Reads the next byte that is no white space if it is `byte`. Returns whether it is.
    fn next_is(&mut self, byte: u8) -> Option<bool> {
        let is_next = self.peek()? == byte;
        self.position += usize::from(is_next);

        Some(is_next)
    }

    /// Returns the next byte that is no white space, and moves the position to this byte.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let byte = self.byte()?;
        // No token begins with a control character.
        if byte > b' ' { Some(byte) } else { self.leave_out_white_space() }
    }

    /// Copies the text before white space. Returns the byte after the white space, and moves the position to this byte.
    #[cold]
    fn leave_out_white_space(&mut self) -> Option<u8> {
        self.copy_until(self.position)?;
        while self.byte().is_some_and(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {
            self.position += 1;
        }
        self.copied = self.position;

        self.byte()
    }

    fn byte(&self) -> Option<u8> {
        self.json.as_bytes().get(self.position).copied()
    }

    /// Returns the position in the compact text of a byte that is not copied yet.
    fn compact_position(&self, position: usize) -> usize {
        self.compact.text.len() + position - self.copied
    }

    fn copy_until(&mut self, end: usize) -> Option<()> {
        self.compact.text.push_str(self.json.get(self.copied..end)?);
        self.copied = end;

        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::{
        prelude::{Strategy as _, any},
        sample::Index,
    };
    use serde_json::Value;

    use super::*;
    use crate::random_inputs::{check_texts, check_values, value};

    fn compact_text(json: &str) -> Option<String> {
        compact(json).map(|compact| compact.text)
    }

    #[test]
    fn white_space_between_tokens_is_removed() {
        for (json, expected) in [
            (r#" { "a b" : [ 1 , 2.50 , true ] } "#, r#"{"a b":[1,2.50,true]}"#),
            ("[\r\n\t]", "[]"),
            (r#"["\" \\ \n\r\t", "é 👩‍🚀"]"#, r#"["\" \\ \n\r\t","é 👩‍🚀"]"#),
            ("[-0, -1.05, null, false, {}]", "[-0,-1.05,null,false,{}]"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
        ] {
            assert_eq!(compact_text(json).as_deref(), Some(expected), "{json}");
        }
    }

    #[test]
    fn texts_that_serialising_writes_differently_are_left_to_the_parser() {
        let deep = ["[".repeat(MAX_DEPTH + 1), "]".repeat(MAX_DEPTH + 1)].concat();
        let long = format!("[{}1]", "1,".repeat(MAX_VALUES));

        for json in
            [r#"["\u0041"]"#, r#"["\/"]"#, r#"["\b"]"#, "[1e5]", "[1.5E-3]", r#"{"a\n": 1}"#, &deep, &long]
        {
            assert!(serde_json::from_str::<Value>(json).is_ok() || json == deep, "{json:.40}");
            assert_eq!(compact_text(json), None, "{json:.40}");
        }
    }

    #[test]
    fn texts_that_are_not_json_are_left_to_the_parser() {
        let texts = [
            "",
            " ",
            "[1 2]",
            "[1 \n.5]",
            "[tr ue]",
            "[nul]",
            "\"open",
            "\"\\",
            "\"a\nb\"",
            "[1,]",
            "[,1]",
            "[1",
            "1]",
            "[1}",
            "{1}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1 \"b\":2}",
            "{,}",
            "{\"a\":1]",
            "01",
            "-",
            "-01",
            "1.",
            ".5",
            "+1",
            "1,2",
            "1:2",
            "[1:2]",
            "'a'",
            "truefalse",
        ];

        for json in texts {
            assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
            assert_eq!(compact_text(json), None, "{json}");
        }
    }

    #[test]
    fn the_fields_of_an_object_are_found() {
        let json = r#" { "a" : [ { "x" : 1 } , 2 ] , "" : { "b" : {} } , "c d" : "e" } "#;
        let compact = compact(json).expect("JSON");
        let fields: Vec<_> = compact.fields().collect();

        assert_eq!(fields, [("a", r#"[{"x":1},2]"#), ("", r#"{"b":{}}"#), ("c d", r#""e""#)]);
        for without_fields in ["{}", r#"[{"a":1}]"#, "1"] {
            assert_eq!(super::compact(without_fields).expect("JSON").fields().len(), 0, "{without_fields}");
        }
    }

    #[test]
    fn the_result_equals_that_of_parsing_and_serialising() {
        let is_spaced = any::<bool>();
        check_values(&(value(), is_spaced), 1, |(value, is_spaced)| {
            let json = if is_spaced { format!("{value:#}") } else { value.to_string() };
            let Some(compact) = compact(&json) else { return };
            assert_eq!(compact.text, value.to_string());

            let fields = compact.fields().map(|(name, json)| (name.to_owned(), json.to_owned()));
            let expected = value.as_object().into_iter().flatten();
            let expected = expected.map(|(name, value)| (name.clone(), value.to_string()));
            assert!(fields.eq(expected), "{json}");
        });
    }

    #[test]
    fn json_with_another_character_is_checked() {
        let characters = proptest::sample::select("{}[],:\"\\ \n\t0-.eEtn\u{1}é".chars().collect::<Vec<_>>());
        check_values(&(value(), any::<Index>(), characters), 1, |(value, index, character)| {
            let json = value.to_string();
            let mut characters: Vec<_> = json.chars().collect();
            let position = index.index(characters.len());
            characters.splice(position..=position, [character]);

            let text = String::from_iter(characters);
            if compact(&text).is_some() {
                assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
            }
        });
    }

    #[test]
    fn no_text_becomes_other_json() {
        let texts = "[\\[\\]{}\", :\\\\nu0-9eE.truefals -]{0,24}".prop_map(|text| text);
        check_texts(&texts, |text| {
            if let Some(compact) = compact(&text) {
                let parsed = serde_json::from_str::<Value>(&text).expect("JSON");
                assert_eq!(Some(parsed), serde_json::from_str(&compact.text).ok(), "{text}");
            }
        });
    }
}
