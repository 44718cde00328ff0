//! Prompts for frequent jobs, for hosts that offer prompts as commands.
//!
//! A prompt lists the exact calls that do the job, so that a model can follow it without further knowledge of the
//! tools. A prompt is listed if its tools are offered, and names offered tools only.

mod argument_check;
mod arguments;
mod definition;
mod listing;
mod script;
mod scripts;
mod table;

pub use self::listing::known_prompt;
pub(super) use self::{
    listing::{find_offered, get, list},
    scripts::EXECUTION as EXECUTION_ARGUMENT,
};
