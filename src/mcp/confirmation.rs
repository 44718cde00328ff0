//! Asks a person before a costly or irreversible call, in the way of the protocol revision.
//!
//! Revisions with `initialize` have an elicitation request. Later revisions answer the call with `input_required`, and
//! the host repeats the call with the answer. A host that cannot ask gets the failure `confirmation_required`.

mod answer;
mod confirmer;
mod error;

pub(super) use self::{
    answer::ConfirmationOutcome,
    confirmer::{Confirmer, RetriedCall, can_ask},
    error::ConfirmationError,
};
