//! Cuts a reply to the length that hosts accept (`design.md` 5), and states in the reply what was cut.

mod cuts;
mod fitting;

use serde_json::Value;

use self::{
    cuts::Cuts,
    fitting::{Shortening, fit, measure},
};
use super::next_page::NEXT;
use crate::{
    fields::Fields,
    service::{schema::RECORDS, tool::Tool},
};

/// The request that a reply answers. It decides the advice in a cut reply.
#[derive(Clone, Copy, Debug)]
pub enum ReplySource {
    /// A call of this tool.
    Call(&'static Tool),
    /// A resource, which takes no arguments. This tool returns the same record and takes arguments.
    Resource(&'static Tool),
}

/// Field that states what was cut.
const TRUNCATED: &str = "truncated";

/// Characters that are reserved for the field [`TRUNCATED`].
const RESERVED_CHARS: usize = 1_200;

/// Returns whether the compact JSON of `value` has at most `max_chars` characters. The time is bounded by `max_chars`.
pub(super) fn fits(value: &Value, max_chars: usize) -> bool {
    measure(value, Shortening::Lists, max_chars).length <= max_chars
}

/// Cuts `object` until its compact JSON has at most `max_chars` characters. Lists are cut first. Strings are cut only if
/// that is not enough, and fields are removed only if nothing else is enough.
pub(super) fn cut(object: &mut Fields, max_chars: usize, source: ReplySource) {
    let cuts = cut_to(object, max_chars.saturating_sub(RESERVED_CHARS));

    let kept_records = cuts.kept_items(&format!("/{RECORDS}"));
    if kept_records.is_some() {
        // The next page of this size would skip the removed records.
        object.shift_remove(NEXT);
    }

    object.insert(TRUNCATED.to_owned(), cuts.into_value(&source.advice(kept_records)));
}

/// Cuts the details of a failure until their compact JSON has at most `max_chars` characters.
pub(super) fn cut_details(details: &mut Fields, max_chars: usize) {
    let cuts = cut_to(details, max_chars.saturating_sub(RESERVED_CHARS));
    details.insert(TRUNCATED.to_owned(), cuts.into_value("the details are longer than a reply may be"));
}

/// Cuts `object` to `max_chars` characters and returns what was cut.
fn cut_to(object: &mut Fields, max_chars: usize) -> Cuts {
    let mut value = Value::Object(std::mem::take(object));
    let is_enough = |means: &Shortening| measure(&value, *means, max_chars).minimum <= max_chars;
    let means = [Shortening::Lists, Shortening::Strings].into_iter().find(is_enough);

    let mut cuts = Cuts::default();
    fit(&mut value, max_chars, means.unwrap_or(Shortening::Fields), &mut cuts);
    if let Value::Object(fields) = value {
        *object = fields;
    }

    cuts
}

impl ReplySource {
    /// Returns how to get what was cut. `kept_records` is the number of records that are left of a page.
    fn advice(self, kept_records: Option<usize>) -> String {
        let tool = match self {
            Self::Call(tool) => Some(tool).filter(|tool| tool.takes_fields()),
            Self::Resource(tool) => {
                return format!(
                    "the record is longer than the limit of a reply: call `{}` with `fields` to get parts of it",
                    tool.name
                );
            }
        };

        let has_pages = tool.is_some_and(Tool::takes_pages);
        match (tool, kept_records) {
            (Some(_), Some(kept)) if has_pages => format!(
                "select fewer fields with `fields`, or fewer records per page with `page_size: {}`, and continue with `page`",
                kept.max(1)
            ),
            (Some(_), Some(_)) => {
                "the list is longer than the limit of a reply: select fewer fields with `fields`".to_owned()
            }
            (Some(_), None) => {
                "the record is longer than the limit of a reply: select parts of it with `fields`".to_owned()
            }
            (None, _) => "the answer is longer than the limit of a reply".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::service::{api::runs::GetRun, catalog::ListedOperation as _};

    const MAX_CHARS: usize = 2_000;

    /// A value that is nested as deeply as a parsed answer can be.
    fn nested(depth: usize, innermost: Value) -> Value {
        (0..depth)
            .fold(innermost, |value, level| if level % 2 == 0 { json!([value]) } else { json!({"a": value}) })
    }

    #[test]
    fn every_shape_of_an_answer_is_cut_to_the_limit() {
        let many_fields: Fields = (0..50_000).map(|index| (format!("field_{index}"), json!(index))).collect();
        let shapes = [
            json!({"data": vec![json!({"id": "x".repeat(50)}); 1_000], "pagination": {"page": 0}}),
            json!({"texts": vec!["y".repeat(520); 20_000]}),
            Value::Object(many_fields.clone()),
            json!({"inner": many_fields, "text": "kept"}),
            json!({"a": vec![vec![json!([]); 1_000]; 1_000]}),
            json!({"a": nested(120, json!("z".repeat(100_000)))}),
            json!({"k".repeat(100_000): 1, "b": 2}),
            json!({"text": "\u{1}\"".repeat(100_000)}),
            json!({"emoji": "👩‍🚀".repeat(10_000)}),
        ];

        for mut shape in shapes {
            let start: String = shape.to_string().chars().take(60).collect();
            let object = shape.as_object_mut().expect("an object");
            cut(object, MAX_CHARS, ReplySource::Call(&GetRun::entry().tool));

            let length = shape.to_string().chars().count();
            assert!(length <= MAX_CHARS, "{start}: {length}");
            assert!(shape["truncated"]["hint"].is_string(), "{start}");
        }
    }
}
