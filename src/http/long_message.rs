//! Work on a long message, which does not delay the requests of others.

use std::{future::poll_fn, pin::pin};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

/// Longest message that is checked and decoded on a thread that serves other requests, in bytes.
pub(super) const MAX_INLINE_BYTES: usize = 64 * 1024;

/// Does the work of a request. If its message `is_long`, another thread takes over the other requests of this one before each step
/// of the work. A runtime with one thread has no other.
pub(super) async fn aside<T>(is_long: bool, work: impl Future<Output = T>) -> T {
    if !is_long || Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return work.await;
    }

    let mut work = pin!(work);
    poll_fn(|context| block_in_place(|| work.as_mut().poll(context))).await
}
