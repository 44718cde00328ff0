//! Placeholder until each resource has its module.
use super::{Answer, Answered, Caller, Fault, World};
use crate::operation::Operation;
impl<O: Operation> Answer<O> for World {
    fn answer(&mut self, _: O, _: &Caller) -> Result<Answered<O::Output>, Fault> {
        Err(Fault::new(http::StatusCode::NOT_IMPLEMENTED, "not yet"))
    }
}
