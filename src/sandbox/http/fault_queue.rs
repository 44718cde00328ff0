//! The faults that wait for their requests.

use tokio_util::sync::CancellationToken;

use crate::sandbox::http::injected_fault::InjectedFault;

/// The faults that wait for their requests, oldest first.
#[derive(Debug, Default)]
pub(super) struct FaultQueue {
    faults: Vec<InjectedFault>,
    /// Cancelled to end the delays of requests. All delayed requests share it.
    release: CancellationToken,
}

impl FaultQueue {
    pub(super) fn add(&mut self, fault: InjectedFault) {
        self.faults.push(fault);
    }

    /// Removes all faults.
    pub(super) fn clear(&mut self) {
        self.faults.clear();
    }

    /// Ends the delays of the requests in progress.
    pub(super) fn release(&mut self) {
        std::mem::take(&mut self.release).cancel();
    }

    /// Takes one use of the oldest fault that applies to `operation`.
    pub(super) fn take(&mut self, operation: &str) -> Option<InjectedFault> {
        let applies = |fault: &&mut InjectedFault| fault.times > 0 && fault.applies_to(operation);
        let fault = self.faults.iter_mut().find(applies)?;

        fault.times -= 1;
        let mut taken = fault.clone();
        taken.release = self.release.clone();
        self.faults.retain(|fault| fault.times > 0);

        Some(taken)
    }
}
