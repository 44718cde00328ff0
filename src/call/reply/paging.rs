//! Says in a page of a list that there are more pages, and how to get the next one.

use serde_json::{Value, json};

use crate::fields::Fields;

/// Field that says how to go on.
pub(super) const NEXT: &str = "next";

/// Adds [`NEXT`] to a page that is not the last one.
pub(super) fn point_to_next(page: &mut Fields) {
    let Some(pagination) = page.get("pagination") else { return };
    let number = |name: &str| pagination.get(name).and_then(Value::as_u64);
    let (Some(present), Some(pages)) = (number("page"), number("total_pages")) else { return };
    let next = present.saturating_add(1);

    if next < pages {
        let remaining = pages - next;
        page.insert(NEXT.to_owned(), json!({"page": next, "remaining_pages": remaining}));
    }
}
