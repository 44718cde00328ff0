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
        expected: Expected::Value,
        objects: 0,
        depth: 0,
        values: 1,
    };
    while let Some(byte) = json.as_bytes().get(compactor.position) {
        compactor.position = compactor.read_token(*byte)?;
    }
    compactor.copy_until(json.len())?;

    let is_complete = compactor.depth == 0 && compactor.expected == Expected::End;
    is_complete.then_some(compactor.compact)
}

/// What the next token can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// A value, or the end of an empty list.
    FirstValue,
    Name,
    /// A name, or the end of an empty object.
    FirstName,
    Colon,
    /// A comma, or the end of the list, of the object or of the text.
    End,
}

/// Reads the tokens of a text from the first to the last.
struct Compactor<'a> {
    json: &'a str,
    compact: CompactJson,
    /// Number of bytes that were copied or left out.
    copied: usize,
    position: usize,
    expected: Expected,
    /// One bit for each open list (0) or object (1), the innermost one last.
    objects: u128,
    depth: usize,
    /// One value, and one more for each comma.
    values: usize,
}

impl Compactor<'_> {
    /// Reads the token, or the white space, that begins with `byte`. Returns the position after it.
    fn read_token(&mut self, byte: u8) -> Option<usize> {
        use Expected::{Colon, End, FirstName, FirstValue, Name, Value};

        match (byte, self.expected) {
            (b' ' | b'\n' | b'\r' | b'\t', _) => {
                self.copy_until(self.position)?;
                self.copied += 1;
            }
            (b'"', Name | FirstName) => return self.read_name(),
            (b':', Colon) => {
                self.expected = Value;
                self.begin_field_value();
            }
            (b',', End) if self.depth > 0 => {
                self.end_field_value();
                self.expected = if self.is_in_object() { Name } else { Value };
                self.values += 1;
            }
            (b'{' | b'[', Value | FirstValue) => self.open(byte == b'{')?,
            (b'}', End | FirstName) if self.is_in_object() => self.close(),
            (b']', End | FirstValue) if self.depth > 0 && !self.is_in_object() => self.close(),
            (_, Value | FirstValue) => {
                self.expected = End;
                return scalar_end(self.json.as_bytes(), self.position);
            }
            _ => return None,
        }

        (self.values <= MAX_VALUES).then_some(self.position + 1)
    }

    /// Reads the name of a field. Returns the position after it.
    fn read_name(&mut self) -> Option<usize> {
        let end = string_end(self.json.as_bytes(), self.position + 1)?;
        self.expected = Expected::Colon;

        if self.depth == 1 {
            let quoted = self.json.get(self.position..end)?;
            // Field names are compared by their JSON text. With escape sequences, one name can have several texts.
            if quoted.contains('\\') {
                return None;
            }

            let start = self.compact_position();
            let name = start + 1..start + quoted.len() - 1;
            self.compact.fields.push(FieldRange { name, value: 0..0 });
        }

        Some(end)
    }

    fn begin_field_value(&mut self) {
        let position = self.compact_position();
        if let Some(field) = self.compact.fields.last_mut().filter(|_| self.depth == 1) {
            field.value.start = position + 1;
        }
    }

    fn end_field_value(&mut self) {
        let position = self.compact_position();
        if let Some(field) = self.compact.fields.last_mut().filter(|_| self.depth == 1) {
            field.value.end = position;
        }
    }

    fn open(&mut self, is_object: bool) -> Option<()> {
        self.depth += 1;
        self.objects = (self.objects << 1) | u128::from(is_object);
        self.expected = if is_object { Expected::FirstName } else { Expected::FirstValue };

        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn close(&mut self) {
        self.end_field_value();
        self.depth -= 1;
        self.objects >>= 1;
        self.expected = Expected::End;
    }

    fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    /// Returns the position of the next token in the compact text.
    fn compact_position(&self) -> usize {
        self.compact.text.len() + self.position - self.copied
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
