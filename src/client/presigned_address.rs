//! Addresses of the storage host that are themselves the permission to read a file.

use std::fmt;

use percent_encoding::percent_decode_str;
use url::Url;

/// A presigned address. No output shows it, except the reply to the caller: its `Debug` leaves out the query.
#[derive(Clone, PartialEq, Eq)]
pub struct PresignedAddress(Url);

impl PresignedAddress {
    /// Creates the address from one that the [`AddressPolicy`](super::AddressPolicy) allows.
    pub fn new(url: Url) -> Self {
        Self(url)
    }

    /// Returns the complete address, for the reply to the caller.
    pub fn expose(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the name of the file: the last segment of the path.
    pub fn file_name(&self) -> Option<String> {
        let segment = self.0.path_segments()?.next_back().filter(|segment| !segment.is_empty())?;
        percent_decode_str(segment).decode_utf8().ok().map(String::from)
    }
}

impl fmt::Debug for PresignedAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}?[signature]", self.0.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_last_segment_of_the_path() {
        for (address, expected) in [
            ("https://storage.example/a/b%20c.zip?x=/y", Some("b c.zip")),
            ("https://storage.example/", None),
            ("https://storage.example/%FF", None),
        ] {
            let address = PresignedAddress::new(Url::parse(address).expect("an address"));
            assert_eq!(address.file_name().as_deref(), expected, "{address:?}");
        }
    }

    #[test]
    fn the_debug_output_leaves_out_the_query() {
        let url = Url::parse("https://storage.example/file?X-Amz-Signature=secret").expect("an address");
        assert_eq!(format!("{:?}", PresignedAddress::new(url)), "/file?[signature]");
    }
}
