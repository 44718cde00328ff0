//! Calls that must not have an effect twice by accident.

use std::time::Duration;

use super::{
    configured::ConfiguredGateway,
    handle::Gateway,
    probe::{ProbeContext, ProbeOutcome},
    sending::PreparedCall,
};
use crate::{
    call::{
        common_arguments::ToolArguments,
        duplicate_guard::{
            Attempt, CallDigest, ClockReading, Elapsed, TimeWindow, UncertainAttempt, equal_call_in_flight,
            probably_happened, probe_failed, too_little_time,
        },
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{catalog::OperationEntry, operation::DuplicateCheck},
};

/// Minimum time for a write. With less time a write is not started, because its outcome would probably remain unknown.
pub(super) const WRITE_RESERVE: Duration = Duration::from_secs(10);

impl Gateway {
    /// Calls an operation for a host.
    ///
    /// If the call repeats a call of unknown outcome, the service is first asked whether the earlier call happened.
    ///
    /// # Errors
    /// Every failure of the operation; `conflict` if the earlier call seems to have happened; `outcome_unknown` if the
    /// service cannot tell.
    pub async fn call_guarded(
        &self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<Reply, Failure> {
        let configured = Box::pin(self.serving_call(entry, &arguments)).await?;
        let clock = &**self.clock();
        let call = Box::pin(configured.prepare(entry, arguments, clock)).await?;

        let Some(check) = duplicate_check(entry, &call.request.arguments) else {
            return Box::pin(configured.execute(call)).await;
        };
        // The owner look-up counts towards the time limit of the call.
        if call.context.remaining() < WRITE_RESERVE {
            return Err(too_little_time(entry));
        }

        let digest = CallDigest::new(entry.name, call.project.as_deref(), &call.request.arguments);
        // Boxed, as below, because a call that may be repeated needs no memory for these requests.
        let shared = Box::pin(self.shared_call(&digest)).await?;
        let Some(mut attempt) = configured.attempts.begin(digest, clock) else {
            return Err(equal_call_in_flight(entry));
        };
        if let Some(place) = shared
            && !Box::pin(attempt.share(place)).await
        {
            return Err(equal_call_in_flight(entry));
        }

        let outcome = Box::pin(configured.attempt(check, call, &mut attempt)).await;
        Box::pin(attempt.end()).await;

        outcome
    }
}

/// Returns how the service shows that the call happened; `None` if the call may be repeated freely.
fn duplicate_check(entry: &OperationEntry, arguments: &Fields) -> Option<&'static DuplicateCheck> {
    if entry.is_repeatable(arguments) {
        return None;
    }
    entry
        .request
        .duplicate_checks
        .iter()
        .find(|check| check.when_given.is_none_or(|name| arguments.contains_key(name)))
}

impl ConfiguredGateway {
    /// Makes an attempt of a call. If the attempt repeats a call of unknown outcome, the service is first asked whether that
    /// call happened.
    ///
    /// # Errors
    /// As [`Gateway::call_guarded`].
    async fn attempt(
        &self,
        check: &'static DuplicateCheck,
        call: PreparedCall<'_>,
        attempt: &mut Attempt<'_>,
    ) -> Result<Reply, Failure> {
        let now = ClockReading::now(call.clock);
        if let Some(repeated) = attempt.repeated()
            && let Some(reply) = Box::pin(self.check_repeated(check, &call, attempt, repeated, now)).await?
        {
            return Ok(reply);
        }

        attempt.mark_sent();
        let outcome = Box::pin(self.execute(call)).await;

        if let Ok(reply) = &outcome {
            attempt.record_result(reply.value());
        }

        // Every other failure proves that the call had no effect.
        if !outcome.as_ref().is_err_and(|failure| failure.facts.is_uncertain) {
            attempt.settle();
        }

        outcome
    }

    /// Asks the service whether the calls in `repeated` happened. Returns `None` if they did not happen and this call has to
    /// be sent, or the reply if the check itself has performed this call.
    ///
    /// # Errors
    /// `conflict` if they seem to have happened, `outcome_unknown` if the service cannot tell.
    async fn check_repeated(
        &self,
        check: &'static DuplicateCheck,
        call: &PreparedCall<'_>,
        attempt: &mut Attempt<'_>,
        repeated: UncertainAttempt,
        now: ClockReading,
    ) -> Result<Option<Reply>, Failure> {
        let entry = call.request.entry;
        let elapsed = Elapsed::new(repeated, now);
        let context = ProbeContext {
            window: TimeWindow { elapsed: elapsed.since_first, sent: repeated.service_time, now: now.date },
            issued_ids: attempt.ids_issued_before(repeated),
        };

        match self.probe(check, call, &context).await {
            Ok(ProbeOutcome::NotHappened) => Ok(None),
            Ok(ProbeOutcome::HappenedNow(reply)) => {
                attempt.settle();
                Ok(Some(*reply))
            }
            Ok(ProbeOutcome::Found(records)) => {
                attempt.settle();
                attempt.record_reported(&records);
                Err(probably_happened(entry, check, &records, elapsed))
            }
            Err(failure) => {
                let may_pass = may_pass(&failure);
                // Another check would fail again. The next equal call is therefore sent without a check.
                if !may_pass {
                    attempt.settle();
                }
                Err(probe_failed(entry, check, &failure, elapsed, may_pass))
            }
        }
    }
}

/// Returns whether a failed check may succeed later.
fn may_pass(failure: &Failure) -> bool {
    // A conflict means that an export is in progress, which ends.
    failure.is_transient() || failure.code == Code::Conflict
}
