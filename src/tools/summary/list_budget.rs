//! The room of each list in the answer, and removing the entries that do not fit.

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::Summary;

/// Name of the list of failures.
pub(super) const FAILURES: &str = "failures";

/// Share of the room that is reserved for each list, in percent, in the order of importance. Room that a list does not
/// need goes to the first list that needs more.
const SHARES: [(&str, usize); 7] = [
    (FAILURES, 55),
    ("comparison.newly_failing", 15),
    ("unread", 8),
    ("flaky", 7),
    ("comparison.still_failing", 7),
    ("comparison.fixed", 4),
    ("comparison.not_run", 4),
];

/// Returns the share of the list `name`, in percent.
pub(super) fn share_of(name: &str) -> usize {
    SHARES.iter().find(|(known, _)| *known == name).map_or(0, |(_, share)| *share)
}

/// Returns the length of `value` as compact JSON, in characters.
pub(super) fn json_length(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.chars().count())
}

/// Removes entries from the ends of lists until the answer has at most `room` characters. Adds the number of removed
/// entries of each list to `counts`.
pub(super) fn cut_lists(answer: &mut Summary, room: usize, counts: &mut BTreeMap<String, usize>) {
    let of_entries: usize = lists(answer).iter().flat_map(|(_, list)| list.entry_lengths()).sum();
    let available = room.saturating_sub(json_length(answer).saturating_sub(of_entries));
    let mut left = available;
    let mut kept: Vec<(Vec<usize>, usize)> = Vec::new();

    // Each list gets what fits into its share.
    for (name, list) in lists(answer) {
        let lengths = list.entry_lengths();
        let fitting = count_fitting(&lengths, available * share_of(name) / 100);
        left = left.saturating_sub(lengths.iter().take(fitting).sum());
        kept.push((lengths, fitting));
    }

    // The rest is distributed in the order of importance.
    for (lengths, fitting) in &mut kept {
        let rest = lengths.get(*fitting..).unwrap_or_default();
        let more = count_fitting(rest, left);
        left = left.saturating_sub(rest.iter().take(more).sum());
        *fitting += more;
    }

    for ((name, list), (lengths, fitting)) in lists(answer).into_iter().zip(&kept) {
        list.keep_first(*fitting);
        let removed = lengths.len() - fitting;
        if removed > 0 {
            *counts.entry(name.to_owned()).or_default() += removed;
        }
    }
}

/// A list whose entries can be removed.
trait CuttableList {
    /// Returns the length of each entry as compact JSON, including the comma after it.
    fn entry_lengths(&self) -> Vec<usize>;

    /// Removes all entries but the first `count`.
    fn keep_first(&mut self, count: usize);
}

impl<T: Serialize> CuttableList for Vec<T> {
    fn entry_lengths(&self) -> Vec<usize> {
        self.iter().map(|entry| json_length(entry) + 1).collect()
    }

    fn keep_first(&mut self, count: usize) {
        self.truncate(count);
    }
}

/// Returns the lists of the answer in the order of [`SHARES`].
fn lists(answer: &mut Summary) -> Vec<(&'static str, &mut dyn CuttableList)> {
    let mut lists: Vec<(&str, &mut dyn CuttableList)> =
        vec![(FAILURES, &mut answer.failures), ("unread", &mut answer.unread), ("flaky", &mut answer.flaky)];
    if let Some(comparison) = &mut answer.comparison {
        lists.push(("comparison.newly_failing", &mut comparison.newly_failing));
        lists.push(("comparison.still_failing", &mut comparison.still_failing));
        lists.push(("comparison.fixed", &mut comparison.fixed));
        lists.push(("comparison.not_run", &mut comparison.not_run));
    }

    lists.sort_by_key(|(name, _)| SHARES.iter().position(|(known, _)| known == name));

    lists
}

/// Returns how many entries from the beginning fit into `room`.
fn count_fitting(lengths: &[usize], room: usize) -> usize {
    let mut used = 0;
    let fits = |length: &&usize| {
        used += **length;
        used <= room
    };
    lengths.iter().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::count_fitting;

    #[test]
    fn entries_fit_up_to_the_exact_room() {
        let cases: [(&[usize], usize, usize); 4] =
            [(&[], 5, 0), (&[3, 2], 5, 2), (&[3, 3], 5, 1), (&[9, 1], 5, 0)];
        for (lengths, room, expected) in cases {
            assert_eq!(count_fitting(lengths, room), expected, "{lengths:?} in {room}");
        }
    }
}
