//! The target of a wait.

use crate::service::result_kind::{ResultId, ResultKind};

/// The target of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// One run, one job or one execution of a test plan.
    Single(ResultId),
    /// Several jobs, by their ids.
    Jobs(Vec<String>),
}

impl WaitTarget {
    /// Returns the value of the field `target_type` of the answer.
    pub(super) const fn target_type(&self) -> &'static str {
        match self {
            Self::Single(id) => id.kind.target_type(),
            Self::Jobs(_) => "jobs",
        }
    }

    /// Returns the id if the target is a single record.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::Single(id) => Some(&id.id),
            Self::Jobs(_) => None,
        }
    }

    /// Returns the kind of the record if the target is a single record.
    pub(super) const fn kind(&self) -> Option<ResultKind> {
        match self {
            Self::Single(id) => Some(id.kind),
            Self::Jobs(_) => None,
        }
    }
}
