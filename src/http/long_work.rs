//! Runs long computations without a delay for the requests of others.

use std::{future::poll_fn, pin::pin};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

/// Longest message that is checked and decoded on a thread that serves other requests, in bytes.
pub(super) const MAX_INLINE_BYTES: usize = 64 * 1024;

/// Handles a request. If its message `is_long`, each step of the handling runs [`aside`].
pub(super) async fn work_on<T>(is_long: bool, work: impl Future<Output = T>) -> T {
    if !is_long {
        return work.await;
    }
    let mut work = pin!(work);
    poll_fn(|context| aside(|| work.as_mut().poll(context))).await
}

/// Runs work that occupies the processor for long. Before it starts, the runtime moves the other requests of this thread to another
/// thread. In a runtime with a single thread, the work delays them.
pub(super) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    if matches!(flavor, Ok(RuntimeFlavor::MultiThread)) { block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn another_thread_goes_on_beside_long_work() {
        let (taken, is_taken) = oneshot::channel();
        let (other, others) = mpsc::channel();
        let long = tokio::spawn(async move {
            taken.send(()).expect("a test");
            aside(|| others.recv_timeout(Duration::from_secs(20)))
        });
        is_taken.await.expect("long work");
        tokio::spawn(async move { other.send(()) });

        long.await.expect("no panic").expect("other work meanwhile");
    }
}
