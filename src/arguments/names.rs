//! Names of arguments: as violations show them, and the known one that an unknown one is nearest to.

use crate::operation::Fields;

/// A name as violations show it: callers may send endless ones.
pub fn shown_name(name: &str) -> String {
    const LONGEST_NAME: usize = 80;
    name.chars().take(LONGEST_NAME).collect()
}

/// Says that a name is unknown, and which known one it is nearest to.
pub(super) fn unknown(name: &str, known: &Fields) -> String {
    if let Some(nearest) = nearest(&shown_name(name), known.keys().map(String::as_str)) {
        return format!("is not an argument of this tool; the nearest is `{nearest}`");
    }
    let known: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
    format!("is not an argument of this tool, which takes {}", known.join(", "))
}

/// The candidate most like `name`, if any is like it at all. One that ends in the other, such as `run_id` in
/// `multiplayer_run_id`, is most like it.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.72;
    let ends_in = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('_'));
    let likeness = |candidate: &str| {
        let same_end = ends_in(name, candidate) || ends_in(candidate, name);
        if same_end { 1.0 } else { strsim::jaro_winkler(name, candidate) }
    };
    candidates
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}
