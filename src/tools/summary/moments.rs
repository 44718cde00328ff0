//! Moments as the service writes them, with any offset from UTC: their texts say nothing about their order.

use jiff::Timestamp;

/// What a moment is ordered by. One that is no moment comes before all others.
pub(super) fn order(text: &str) -> (Option<Timestamp>, String) {
    (text.parse().ok(), text.to_owned())
}

/// The earliest; what is no moment counts only where nothing else is.
pub(super) fn earliest(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.min_by_key(|text| {
        let order = order(text);
        (order.0.is_none(), order)
    })
}

/// The latest.
pub(super) fn latest(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.max_by_key(|text| order(text))
}
