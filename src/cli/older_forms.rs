//! Forms of the command line that an earlier version had, and that still work.

use std::ffi::{OsStr, OsString};

use super::json_arguments::ARGS;

/// Flag that took the arguments of a tool, and that selects the output now.
const JSON: &str = "--json";

/// Returns the arguments of the process in their current form, and a note for the person if they have changed.
///
/// `--json VALUE` is `--args VALUE`. A value begins with `{` or `[`, or is `-`; anything else after `--json` is another
/// argument.
pub fn current_form(arguments: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Option<&'static str>) {
    let mut current = Vec::new();
    let mut note = None;
    let mut arguments = arguments.into_iter().peekable();

    while let Some(argument) = arguments.next() {
        let is_older = argument == JSON && arguments.peek().is_some_and(|next| is_arguments(next));
        if is_older {
            current.push(format!("--{ARGS}").into());
            current.extend(arguments.next());
        } else if let Some(value) = argument.to_str().and_then(|text| text.strip_prefix("--json=")) {
            current.push(format!("--{ARGS}={value}").into());
        } else {
            current.push(argument);
            continue;
        }
        note = Some("note: `--args` takes the arguments now; `--json` selects JSON as the output");
    }

    (current, note)
}

fn is_arguments(text: &OsStr) -> bool {
    text == "-"
        || text
            .as_encoded_bytes()
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            .is_some_and(|first| b"{[".contains(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_a_value_gives_the_arguments() {
        for (given, expected, has_note) in [
            (&["call", "x", "--json", "{\"a\": 1}"][..], &["call", "x", "--args", "{\"a\": 1}"][..], true),
            (&["call", "x", "--json", " []"], &["call", "x", "--args", " []"], true),
            (&["call", "x", "--json", "-"], &["call", "x", "--args", "-"], true),
            (&["call", "x", "--json={}"], &["call", "x", "--args={}"], true),
            (&["run", "test", "--json", "Smoke"], &["run", "test", "--json", "Smoke"], false),
            (&["call", "x", "--json"], &["call", "x", "--json"], false),
            (&[], &[], false),
        ] {
            let (current, note) = current_form(given.iter().map(OsString::from));
            assert_eq!((current, note.is_some()), (expected.iter().map(OsString::from).collect(), has_note));
        }
    }
}
