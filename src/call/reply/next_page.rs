//! The pointer from one page of a list to the next.

use serde_json::{Value, json};

use crate::fields::Fields;

/// Field with the arguments of the next page.
pub(super) const NEXT: &str = "next";

/// Adds [`NEXT`] to a page that is not the last one.
pub(super) fn add(page: &mut Fields) {
    let Some(pagination) = page.get("pagination") else { return };
    let number = |name: &str| pagination.get(name).and_then(Value::as_u64);
    let (Some(current), Some(total)) = (number("page"), number("total_pages")) else { return };
    let next = current.saturating_add(1);

    if next < total {
        page.insert(NEXT.to_owned(), json!({"page": next, "remaining_pages": total - next}));
    }
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
            let mut page = Fields::from_iter([("pagination".to_owned(), pagination)]);
            add(&mut page);
            assert_eq!(page.get(NEXT).cloned(), expected, "{page:?}");
        }
    }
}
