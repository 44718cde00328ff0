//! A text in TOML that is changed without losing its comments, its order and its line ends.

use std::{fmt, ops::Range};

use toml_edit::{Decor, Document, DocumentMut, Item, RawString, Table, TableLike};

/// Byte order mark, which some editors write at the start of a file.
const MARK: char = '\u{feff}';

/// A parsed text.
#[derive(Debug)]
pub struct TomlText {
    /// The content.
    pub document: DocumentMut,
    has_mark: bool,
    /// Whether every line ends as in Windows. The library writes plain line feeds.
    has_carriage_returns: bool,
}

/// Reason for which a text cannot be read or changed, as the end of a sentence about the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TomlTextError {
    /// The text is not TOML, or contains a name twice. The reason names the line.
    #[error("it is not valid: {0}")]
    Syntax(String),
    /// The text would lose its line ends.
    #[error("its lines end in two different ways")]
    MixedLineEnds,
}

impl TomlText {
    /// Parses a text that is to be changed.
    ///
    /// # Errors
    /// The text is not valid TOML, or some lines end with a carriage return and others do not.
    pub fn parse(text: &str) -> Result<Self, TomlTextError> {
        let pairs = text.matches("\r\n").count();
        if pairs > 0 && pairs < text.matches('\n').count() {
            return Err(TomlTextError::MixedLineEnds);
        }

        let document = parse_document(&text.replace("\r\n", "\n"))?.into_mut();
        Ok(Self { document, has_mark: text.starts_with(MARK), has_carriage_returns: pairs > 0 })
    }

    /// Moves the comments above a removed table to the table below it, or to the end of the text.
    pub fn keep_comments(&mut self, removed: &Table) {
        let (comments, position) = (text_above(removed.decor()), removed.position());
        if !comments.contains('#') {
            return;
        }

        let document = &mut self.document;
        let mut below: Option<isize> = None;
        visit_tables(document.as_table_mut(), &mut |table| {
            let later = table.position().filter(|one| Some(*one) > position);
            below = below.into_iter().chain(later).min();
        });

        if below.is_none() {
            let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{comments}{trailing}"));
        }
        visit_tables(document.as_table_mut(), &mut |table| {
            if below.is_some() && table.position() == below {
                let prefix = format!("{comments}{}", text_above(table.decor()));
                table.decor_mut().set_prefix(prefix);
            }
        });
    }
}

impl fmt::Display for TomlText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.document.to_string();
        if self.has_mark {
            write!(formatter, "{MARK}")?;
        }
        if self.has_carriage_returns {
            return formatter.write_str(&text.replace('\n', "\r\n"));
        }
        formatter.write_str(&text)
    }
}

/// Parses a text, with the positions of its parts, from which [`line_number`] derives lines.
///
/// # Errors
/// The text is not TOML.
pub fn parse_document(text: &str) -> Result<Document<String>, TomlTextError> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    Document::parse(text.to_owned()).map_err(|error| {
        // The message quotes the line, which may contain a secret.
        let place = error.span().map(|span| format!(" near line {}", line_number(text, &span)));
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        TomlTextError::Syntax(format!("{reason}{}", place.unwrap_or_default()))
    })
}

/// Returns the number of the line that contains the start of `span`. The first line is 1.
pub fn line_number(text: &str, span: &Range<usize>) -> usize {
    let before = text.get(..span.start).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// Puts `changed` in the place of an earlier value. The comments above and beside that value stay.
pub fn assign(table: &mut dyn TableLike, name: &str, mut changed: Item) {
    let Some(earlier) = table.get_mut(name) else {
        table.insert(name, changed);
        return;
    };

    if let (Some(earlier), Some(changed)) = (earlier.as_value(), changed.as_value_mut()) {
        *changed.decor_mut() = earlier.decor().clone();
    }
    *earlier = changed;
}

/// Returns the blank lines and comments above a part of a text.
fn text_above(decor: &Decor) -> &str {
    decor.prefix().and_then(RawString::as_str).unwrap_or_default()
}

/// Passes a table and all tables in it to `act`.
fn visit_tables(table: &mut Table, act: &mut dyn FnMut(&mut Table)) {
    act(table);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => visit_tables(table, act),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| visit_tables(table, act)),
            Item::None | Item::Value(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_line_ends_are_kept() {
        for text in ["a = 1 # one\n", "a = 1 # one\r\n", "\u{feff}a = 1\r\n", "\u{feff}a = 1\n", ""] {
            assert_eq!(TomlText::parse(text).expect("TOML").to_string(), text);
        }
        assert_eq!(TomlText::parse("a = 1\r\nb = 2\n").expect_err("an error"), TomlTextError::MixedLineEnds);
        assert!(parse_document("a = 1\r\nb = 2\n").is_ok());
    }

    #[test]
    fn an_error_names_the_line_and_quotes_no_value() {
        for (text, line) in [
            ("a = 1\nb = \"svc_secret\n", 2),
            ("a = 1\n\na = \"svc_secret\"\n", 3),
            ("\u{feff}a = svc_secret", 1),
            ("[a]\r\nb = 1\r\n[a]\r\n", 3),
        ] {
            let error = parse_document(text).expect_err("an error").to_string();
            assert!(error.ends_with(&format!(" near line {line}")), "{error}");
            assert!(!error.contains("svc_secret") && !error.contains('\n'), "{error}");
        }
    }
}
