//! The memory that the records of one list may take.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::Page;
use crate::failure::{Code, Failure};

/// Memory that the records of one list may take, in bytes.
const MAX_LIST_BYTES: usize = 64 * 1024 * 1024;

/// Number of fields that the smallest object has room for.
const MIN_FIELDS: usize = 3;

/// Memory of the pages of one list that were read so far.
#[derive(Debug, Default)]
pub(super) struct ListBudget {
    used: AtomicUsize,
}

impl ListBudget {
    /// Returns the page, if it fits in addition to the earlier ones.
    ///
    /// # Errors
    /// `too_large` if it does not fit. Its memory is released.
    pub(super) fn admit(&self, page: Page) -> Result<Page, Failure> {
        let size: usize = page.records.iter().map(|record| size_of::<Value>() + heap_bytes(record)).sum();
        if self.used.fetch_add(size, Ordering::Relaxed) + size <= MAX_LIST_BYTES {
            return Ok(page);
        }

        let message = format!("the records of the list take more than {} MiB", MAX_LIST_BYTES / 1024 / 1024);
        Err(Failure::new(Code::TooLarge, message).hint("ask for a smaller part of the list"))
    }
}

/// Returns about how much memory a value takes beside the `Value` itself, in bytes.
fn heap_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(number) => number.as_str().len(),
        Value::String(text) => text.len(),
        Value::Array(items) => size_of_val(&**items) + items.iter().map(heap_bytes).sum::<usize>(),
        Value::Object(fields) if fields.is_empty() => 0,
        Value::Object(fields) => {
            let room = fields.len().max(MIN_FIELDS) * size_of::<(usize, String, Value)>();
            room + fields.iter().map(|(name, value)| name.len() + heap_bytes(value)).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(text_length: usize) -> Page {
        Page { records: vec![json!({"a": "x".repeat(text_length)})], total_pages: None, total_records: None }
    }

    #[test]
    fn pages_are_admitted_until_the_memory_is_used() {
        let budget = ListBudget::default();
        assert!(budget.admit(page(MAX_LIST_BYTES / 2)).is_ok());
        assert_eq!(budget.admit(page(MAX_LIST_BYTES / 2)).expect_err("too large").code, Code::TooLarge);
    }

    #[test]
    fn the_room_of_small_objects_is_counted() {
        let field = size_of::<(usize, String, Value)>();
        for (value, expected) in [
            (json!({}), 0),
            (json!({"a": 1}), 3 * field + 2),
            (json!({"a": {"b": null}}), 6 * field + 2),
            (json!({"a": 1, "b": 2, "c": 3, "d": 4}), 4 * field + 8),
            (json!(["x", []]), 2 * size_of::<Value>() + 1),
        ] {
            assert_eq!(heap_bytes(&value), expected, "{value}");
        }
    }
}
