//! Cuts a failure to the length that hosts accept (`design.md` 5).

use serde_json::json;

use super::length_limit;
use crate::{failure::Failure, text::first_characters};

/// Longest message and longest hint, in characters. They may quote arguments of any length.
const MAX_TEXT_CHARS: usize = 2_500;

/// Characters that the name of the field `details` takes.
const DETAILS_CHARS: usize = 12;

/// Mark at the end of a text that was cut.
const CUT_MARK: &str = "… [cut]";

/// Returns `failure` without hidden characters, cut so that its JSON has at most `max_chars` characters. The detail
/// `truncated` says what was cut.
pub fn limit_failure(failure: Failure, max_chars: usize) -> Failure {
    let mut failure = failure.visible();
    // Both texts fit even if JSON escapes every character of them.
    let max_text_chars = MAX_TEXT_CHARS.min(max_chars / 8);
    shorten(&mut failure.message, max_text_chars);
    failure.hint.iter_mut().for_each(|hint| shorten(hint, max_text_chars));

    if length_limit::fits(&json!({"error": failure}), max_chars) {
        return failure;
    }

    let details = std::mem::take(&mut failure.details);
    let around = failure.to_json().chars().count() + DETAILS_CHARS;
    failure.details = details;
    length_limit::cut_details(&mut failure.details, max_chars.saturating_sub(around));

    failure
}

fn shorten(text: &mut String, max_chars: usize) {
    let end = first_characters(text, max_chars).len();
    if end < text.len() {
        text.truncate(end);
        text.push_str(CUT_MARK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;
    use crate::random_inputs::{check_values, object, text};
    use crate::text::has_hidden;

    #[test]
    fn a_failure_of_any_size_is_cut_to_the_limit() {
        let long = Failure::new(Code::Rejected, "m".repeat(100_000))
            .hint("h".repeat(100_000))
            .detail("results", vec!["x".repeat(300); 10_000])
            .detail("other", "y");
        let limited = limit_failure(long, 2_000);

        assert!(limited.to_json().chars().count() <= 2_000, "{}", limited.to_json().len());
        assert!(limited.details.contains_key("truncated"));
    }

    #[test]
    fn a_short_failure_stays_as_it_is() {
        let failure = Failure::new(Code::Rejected, "no").hint("yes").detail("a", "b");
        assert_eq!(limit_failure(failure.clone(), 2_000), failure);
    }

    #[test]
    fn hidden_characters_are_removed_from_every_text() {
        let failure =
            Failure::new(Code::Rejected, "a\u{202e}b").hint("c\u{1b}d").detail("e\u{200b}", "f\u{7}");
        let expected = Failure::new(Code::Rejected, "ab").hint("cd").detail("e", "f");
        assert_eq!(limit_failure(failure, 2_000), expected);
    }

    #[test]
    fn a_failure_with_any_texts_is_cut_to_the_limit() {
        check_values(&(text(), text(), object(), 1..500_usize), 1, |(message, hint, details, times)| {
            let mut failure = Failure::new(Code::Rejected, message.repeat(times)).hint(hint.repeat(times));
            *failure.details = details;
            let limited = limit_failure(failure, 2_000);

            assert!(limited.to_json().chars().count() <= 2_000, "{}", limited.to_json());
            assert!(!has_hidden(&limited.message) && limited.hint.is_none_or(|hint| !has_hidden(&hint)));
        });
    }
}
