//! The configuration file of a git repository. Only the address of the remote `origin` is read; includes are not followed.

/// Header of the section of the remote `origin`, without brackets.
const ORIGIN: &str = "remote \"origin\"";

/// Returns the address of the remote `origin`, or `None` if the file has none. As in git, the last value counts.
pub(super) fn origin_address(config: &str) -> Option<String> {
    let mut is_origin = false;
    let mut address = None;

    for line in config.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            is_origin =
                header.split_once(']').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case(ORIGIN));
        } else if is_origin
            && let Some((name, value)) = line.split_once('=')
            && name.trim().eq_ignore_ascii_case("url")
        {
            address = Some(unquoted(value.trim()).to_owned());
        }
    }

    address.filter(|address| !address.is_empty())
}

/// Returns a value without its quotation marks or its comment.
fn unquoted(value: &str) -> &str {
    let (text, end): (_, &[char]) = match value.strip_prefix('"') {
        Some(quoted) => (quoted, &['"']),
        None => (value, &['#', ';']),
    };
    text.split(end).next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_origin_is_read() {
        let cases = [
            ("[remote \"origin\"]\n\turl = https://a.example/b.git\n", Some("https://a.example/b.git")),
            (
                "[remote \"origin\"]\n\tURL=\"https://a.example/b#c\" ; comment\n",
                Some("https://a.example/b#c"),
            ),
            ("[remote \"origin\"]\nurl = a # comment\nurl = b ; comment", Some("b")),
            ("[remote \"fork\"]\nurl = a\n[branch \"main\"]\nurl = b\n", None),
            ("[include]\npath = other\n[remote \"origin\"]\nfetch = x\n", None),
            ("[remote \"origin\"]\nurl =\n", None),
            ("[remote \"origin\"\nurl = a\n", None),
        ];
        for (config, expected) in cases {
            assert_eq!(origin_address(config).as_deref(), expected, "{config}");
        }
    }
}
