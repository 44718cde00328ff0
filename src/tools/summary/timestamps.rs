//! Timestamps of the service. They have any offset from UTC, so that their texts cannot be compared.

use jiff::Timestamp;

/// Returns the key by which timestamps are sorted. A text that is not a timestamp comes before all timestamps.
pub(super) fn sort_key(text: &str) -> (Option<Timestamp>, String) {
    (text.parse().ok(), text.to_owned())
}

/// Returns the earliest timestamp. A text that is not a timestamp is returned only if there is no timestamp.
pub(super) fn earliest(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.min_by_key(|text| {
        let key = sort_key(text);
        (key.0.is_none(), key)
    })
}

/// Returns the latest timestamp.
pub(super) fn latest(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.max_by_key(|text| sort_key(text))
}

#[cfg(test)]
mod tests {
    use super::{earliest, latest};

    #[test]
    fn timestamps_are_compared_by_time_and_not_by_text() {
        let (one, other, text) = ("2026-03-01T10:30:00+02:00", "2026-03-01T10:00:00Z", "0 soon");
        let cases: [(&[&str], Option<&str>, Option<&str>); 4] = [
            (&[], None, None),
            (&[one, other], Some(one), Some(other)),
            (&[text, other], Some(other), Some(other)),
            (&[text], Some(text), Some(text)),
        ];
        for (texts, first, last) in cases {
            let texts = || texts.iter().map(|text| (*text).to_owned());
            assert_eq!(earliest(texts()).as_deref(), first);
            assert_eq!(latest(texts()).as_deref(), last);
        }
    }
}
