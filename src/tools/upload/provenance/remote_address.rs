//! The address of a git remote.

/// Longest address in bytes. A longer one is left out.
const MAX_BYTES: usize = 2_000;

/// Schemes of addresses that another machine can use. Others lead to a local directory or start a program.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "git"];

/// Hosts of git services, each with the name of the provider.
const PROVIDERS: [(&str, &str); 4] =
    [("github", "github"), ("gitlab", "gitlab"), ("bitbucket", "bitbucket"), ("azure.com", "azure-devops")];

/// Returns the address of a remote without user name, password, query and fragment, which may contain a token. Returns
/// `None` for a local directory.
pub(super) fn public_address(remote: &str) -> Option<String> {
    if remote.len() > MAX_BYTES || remote.contains(char::is_control) || remote.contains(char::is_whitespace) {
        return None;
    }

    match remote.split_once("://") {
        Some((scheme, rest)) if SCHEMES.contains(&scheme) => {
            Some(format!("{scheme}://{}", without_credentials(rest)))
        }
        Some(_) => None,
        None => short_address(remote),
    }
}

/// Returns an address after its scheme without user name, password, query and fragment.
fn without_credentials(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = address.split_once('/').unwrap_or((address, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{host}/{path}")
}

/// Returns an address of the form `user@host:path`. The user `git` is kept, because the address does not work without.
fn short_address(remote: &str) -> Option<String> {
    let (authority, path) = remote.split_once(':')?;
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    // One letter before the colon is a drive of Windows.
    if host.len() < 2 || authority.contains(['/', '\\']) || path.starts_with(':') {
        return None;
    }

    let user = if user == "git" { "git@" } else { "" };
    Some(format!("{user}{host}:{path}"))
}

/// Returns the provider that hosts `address`, if its host names one.
pub(super) fn provider(address: &str) -> Option<&'static str> {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();

    PROVIDERS.into_iter().find(|(part, _)| host.contains(part)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_public_and_without_credentials() {
        let cases = [
            ("https://me:secret@github.com/a/b.git", Some("https://github.com/a/b.git")),
            ("https://github.com/a/b.git?token=secret#x", Some("https://github.com/a/b.git")),
            ("https://github.com?x@y/z", Some("https://github.com/")),
            ("git@github.com:a/b.git", Some("git@github.com:a/b.git")),
            ("token-9@github.com:a/b.git", Some("github.com:a/b.git")),
            ("ssh://git@github.com:22/a", Some("ssh://github.com:22/a")),
            ("/home/ann/secret/game.git", None),
            ("../game.git", None),
            ("file:///home/ann/game.git", None),
            ("C:\\game.git", None),
            ("ext::sh -c id", None),
            ("ext::id", None),
            ("https://a.example/b\u{1b}[0m", None),
        ];
        for (remote, expected) in cases {
            assert_eq!(public_address(remote).as_deref(), expected, "{remote}");
        }
    }

    #[test]
    fn the_provider_follows_from_the_host() {
        let cases = [
            ("https://gitlab.example/github/b.git", Some("gitlab")),
            ("git@github.com:a/b.git", Some("github")),
            ("https://dev.azure.com/a", Some("azure-devops")),
            ("https://example.org/a", None),
        ];
        for (address, expected) in cases {
            assert_eq!(provider(address), expected, "{address}");
        }
    }
}
