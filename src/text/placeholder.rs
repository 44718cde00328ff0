//! Placeholders: names in a value that nobody has replaced by what they stand for.

/// Returns the first placeholder in `value`: `${NAME}` of a shell or a host, `{{NAME}}` or `<name>` of a template, or a value that
/// is only `$NAME` or `%NAME%`.
pub fn placeholder(value: &str) -> Option<&str> {
    let named = |text: &&str| is_name(text.trim_matches(['<', '>']));
    variable_in_braces(value)
        .or_else(|| between(value, "{{", "}}"))
        .or_else(|| between(value, "<", ">").filter(named))
        .or_else(|| is_variable(value).then_some(value))
}

/// Returns the first `${...}` in `value`.
pub fn variable_in_braces(value: &str) -> Option<&str> {
    between(value, "${", "}")
}

/// Returns the first part of `value` that begins with `open` and ends with `close`.
fn between<'a>(value: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let rest = value.get(value.find(open)?..)?;
    rest.get(..rest.find(close)? + close.len())
}

/// Returns whether the whole value is a variable of a Unix or Windows shell. Inside a value, `$` and `%` have other meanings.
fn is_variable(value: &str) -> bool {
    let unix = value.strip_prefix('$');
    let windows = value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
    unix.or(windows).is_some_and(|name| is_name(name) && !name.contains([' ', '-', '.']))
}

fn is_name(text: &str) -> bool {
    let is_part =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | ' ' | '.');
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_found_in_the_forms_of_shells_hosts_and_templates() {
        for (value, expected) in [
            ("${KEY}", Some("${KEY}")),
            ("https://${HOST}/api/v1", Some("${HOST}")),
            ("${A}${B}", Some("${A}")),
            ("${input:tas_key}", Some("${input:tas_key}")),
            ("$TAS_API_KEY", Some("$TAS_API_KEY")),
            ("%TAS_API_KEY%", Some("%TAS_API_KEY%")),
            ("{{TAS_API_KEY}}", Some("{{TAS_API_KEY}}")),
            ("https://{{ host }}/api/v1", Some("{{ host }}")),
            ("<KEY>", Some("<KEY>")),
            ("<your key>", Some("<your key>")),
            ("https://<host>/api/v1", Some("<host>")),
            ("${KEY", None),
            ("$", None),
            ("$5", None),
            ("costs$KEY", None),
            ("https://h.example/%C3%A9", None),
            ("%C3%A9%", None),
            ("a<b", None),
            ("<>", None),
        ] {
            assert_eq!(placeholder(value), expected, "{value}");
        }
    }
}
