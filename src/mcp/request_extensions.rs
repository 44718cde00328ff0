//! What a transport adds to the extensions of a request.

/// Mark, in the extensions of a request, of a transport without sessions.
#[derive(Clone, Copy, Debug)]
pub struct WithoutSession;
