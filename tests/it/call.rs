//! One call of one operation, from its arguments to its reply.

mod artifacts;
mod authoring;
mod deleting;
mod dry_run;
mod exporting;
mod knowledge;
mod live;
mod long_answers;
mod minions;
mod refusals;
mod replies;
mod scope;
mod starting;
mod uploading;
