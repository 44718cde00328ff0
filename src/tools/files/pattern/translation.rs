//! Translation of patterns into regular expressions.

use regex_lite::escape;

/// Returns the regular expression that matches the names which match `pattern`.
///
/// # Errors
/// The reason why the pattern is not valid.
pub(super) fn expression(pattern: &str) -> Result<String, String> {
    let mut translation = Translation {
        rest: pattern,
        expression: String::new(),
        is_segment_start: true,
        open_braces: Vec::new(),
    };
    while let Some(character) = translation.next() {
        translation.add(character)?;
    }

    if !translation.open_braces.is_empty() {
        return Err("a `{` has no `}`".to_owned());
    }

    // With this flag, `.` matches a line feed, too.
    Ok(format!("(?s)^(?:{})$", translation.expression))
}

struct Translation<'a> {
    /// The part of the pattern that is not translated yet.
    rest: &'a str,
    expression: String,
    /// Whether the rest begins with a segment.
    is_segment_start: bool,
    /// Whether each open brace begins a segment, the innermost one last.
    open_braces: Vec<bool>,
}

impl Translation<'_> {
    /// Translates the part of the pattern that begins with `character`. The rest begins after this character.
    fn add(&mut self, character: char) -> Result<(), String> {
        let is_segment_start = std::mem::take(&mut self.is_segment_start);
        match character {
            '*' if is_segment_start && self.takes_directories() => {}
            '*' => self.expression.push_str("[^/]*"),
            '?' => self.expression.push_str("[^/]"),
            '[' => self.add_class()?,
            '\\' => {
                let literal = self.next().ok_or("a `\\` has no character after it")?;
                self.add_literal(literal);
            }
            '{' => {
                self.open_braces.push(is_segment_start);
                self.is_segment_start = is_segment_start;
                self.expression.push_str("(?:");
            }
            ',' if !self.open_braces.is_empty() => {
                self.is_segment_start = self.open_braces.last() == Some(&true);
                self.expression.push('|');
            }
            '}' => {
                self.open_braces.pop().ok_or("a `}` has no `{`")?;
                self.expression.push(')');
            }
            literal => {
                self.is_segment_start = literal == '/';
                self.add_literal(literal);
            }
        }

        Ok(())
    }

    /// Translates a segment `**` whose first `*` was read. Returns `false` and changes nothing if the segment is another one.
    fn takes_directories(&mut self) -> bool {
        let Some(rest) = self.rest.strip_prefix('*') else { return false };

        if let Some(rest) = rest.strip_prefix('/') {
            self.rest = rest;
            self.is_segment_start = true;
            self.expression.push_str("(?:.*/)?");
            return true;
        }

        let is_last = rest.is_empty() || (!self.open_braces.is_empty() && rest.starts_with([',', '}']));
        if is_last {
            self.rest = rest;
            self.expression.push_str(".*");
        }
        is_last
    }

    /// Translates a class such as `[a-z]` whose `[` was read. If its first character is a `]`, this `]` is a member and does not
    /// end the class.
    fn add_class(&mut self) -> Result<(), String> {
        let rest = self.rest.strip_prefix(['!', '^']);
        self.expression.push_str(if rest.is_some() { "[^/" } else { "[" });
        self.rest = rest.unwrap_or(self.rest);

        let mut is_first = true;
        loop {
            let member = self.next().ok_or("a `[` has no `]`")?;
            if member == ']' && !is_first {
                break;
            }
            self.add_member(member)?;
            is_first = false;
        }
        self.expression.push(']');

        Ok(())
    }

    /// Translates a member of a class, or a range of members that begins with `member`.
    fn add_member(&mut self, member: char) -> Result<(), String> {
        self.add_literal(member);

        let mut after_dash = self.rest.strip_prefix('-').unwrap_or_default().chars();
        if let Some(last) = after_dash.next().filter(|last| *last != ']') {
            if last < member {
                return Err(format!("the range `{member}-{last}` has no characters"));
            }
            self.rest = after_dash.as_str();
            self.expression.push('-');
            self.add_literal(last);
        }

        Ok(())
    }

    fn add_literal(&mut self, literal: char) {
        self.expression.push_str(&escape(literal.encode_utf8(&mut [0; 4])));
    }

    /// Reads the next character: removes it from the rest and returns it.
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next()?;
        self.rest = characters.as_str();

        Some(next)
    }
}
