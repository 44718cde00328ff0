//! The pointer from one page of a list to the next.

use serde_json::{Value, json};

use crate::fields::Fields;

/// Field with the arguments of the next page.
pub(super) const NEXT: &str = "next";

/// Field that says which page of how many a page is.
const PAGINATION: &str = "pagination";

/// Returns the value of [`NEXT`] for a page that is not the last one.
pub(super) fn next_page(page: &Fields) -> Option<Value> {
    let pagination = page.get(PAGINATION)?;
    let number = |name: &str| pagination.get(name).and_then(Value::as_u64);
    let (current, total) = (number("page")?, number("total_pages")?);
    let next = current.saturating_add(1);

    (next < total).then(|| json!({"page": next, "remaining_pages": total - next}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_points_to_the_next_one_unless_it_is_the_last() {
        for (pagination, expected) in [
            (json!({"page": 0, "total_pages": 3}), Some(json!({"page": 1, "remaining_pages": 2}))),
            (json!({"page": 2, "total_pages": 3}), None),
            (json!({"page": 0, "total_pages": 0}), None),
            (json!({"page": 0}), None),
            (json!(null), None),
        ] {
            let page = Fields::from_iter([(PAGINATION.to_owned(), pagination)]);
            assert_eq!(next_page(&page), expected, "{page:?}");
        }
    }
}
