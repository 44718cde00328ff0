//! The outcomes of JUnit.

/// How a case ended, in the terms of JUnit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The case passed. JUnit has no element for this.
    Passed,
    /// The product did not behave as expected.
    Failure,
    /// There is no verdict on the product.
    Error,
    /// Nothing was checked.
    Skipped,
}

impl Outcome {
    /// Returns the outcome of a verdict; `None` stands for a test that was not finished in time. An unknown verdict is a
    /// failure, because only SUCCESS means that a test passed.
    pub(super) fn from_verdict(verdict: Option<&str>) -> Self {
        match verdict {
            Some("SUCCESS") => Self::Passed,
            Some("SKIPPED") => Self::Skipped,
            Some("ERROR" | "TIMEOUT" | "STOPPED" | "BLOCKED" | "MAX_STEPS" | "no_run" | "no_result")
            | None => Self::Error,
            Some(_) => Self::Failure,
        }
    }

    /// Returns the name of the element that states the outcome.
    pub(super) fn element(self) -> Option<&'static str> {
        match self {
            Self::Passed => None,
            Self::Failure => Some("failure"),
            Self::Error => Some("error"),
            Self::Skipped => Some("skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn every_verdict_but_success_and_skipped_is_a_failure_or_an_error() {
        let cases = [
            (Some("SUCCESS"), Outcome::Passed),
            (Some("SKIPPED"), Outcome::Skipped),
            (Some("FAILED"), Outcome::Failure),
            (Some("UNKNOWN_WORD"), Outcome::Failure),
            (Some("TIMEOUT"), Outcome::Error),
            (Some("no_run"), Outcome::Error),
            (None, Outcome::Error),
        ];
        for (verdict, expected) in cases {
            assert_eq!(Outcome::from_verdict(verdict), expected, "{verdict:?}");
        }
    }
}
