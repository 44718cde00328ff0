//! The address of the client behind proxies.

use std::net::IpAddr;

use http::HeaderMap;
use ipnet::IpNet;

/// Header in which a proxy states the addresses that a request came through, the last one last.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Returns the address of the client of a request from `peer`. A trusted proxy states the address: the last one that is
/// not a proxy's itself.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpNet]) -> IpAddr {
    let is_proxy = |address: &IpAddr| trusted_proxies.iter().any(|known| known.contains(address));
    if !is_proxy(&peer) {
        return peer;
    }

    let lists = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let stated: Vec<_> = lists.flat_map(|list| list.split(',')).map(|item| item.trim().parse()).collect();
    let is_client = |item: &&Result<IpAddr, _>| !item.as_ref().is_ok_and(is_proxy);
    // Behind an item that is no address, nothing can be trusted.
    stated.iter().rev().find(is_client).and_then(|item| item.clone().ok()).unwrap_or(peer)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_trusted_proxies_state_the_address_of_the_client() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().expect("a network")];
        let (client, proxy, stranger) = ("203.0.113.7", "10.0.0.1", "198.51.100.9");
        let cases: [(&str, &[&'static str], &str); 9] = [
            (stranger, &["203.0.113.7"], stranger),
            (proxy, &[], proxy),
            (proxy, &["203.0.113.7"], client),
            (proxy, &["198.51.100.9, 203.0.113.7"], client),
            (proxy, &["198.51.100.9, 203.0.113.7, 10.0.0.2"], client),
            (proxy, &["198.51.100.9", "203.0.113.7"], client),
            (proxy, &["203.0.113.7, unknown"], proxy),
            (proxy, &["unknown, 203.0.113.7"], client),
            (proxy, &["10.0.0.2"], proxy),
        ];

        for (peer, values, expected) in cases {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
            }
            let address = client_address(peer.parse().expect("an address"), &headers, &trusted);
            assert_eq!(address.to_string(), expected, "{peer} {values:?}");
        }
    }
}
