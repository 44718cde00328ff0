//! The settings: where each value comes from, what the value means, and the configuration of each lower layer.
//!
//! The crate reads the environment only here.
//!
//! An unusable setting does not stop the server, because hosts show a server that does not start only as "failed to
//! connect". The values stay text until [`Settings::tools_config`] parses them and reports all problems at once.

mod configs;
mod definitions;
mod flags;
mod loaded;
mod parse;
mod parser;
mod problem;
mod setting;
mod values;

pub use definitions::SETTINGS;
pub use flags::flags;
pub use loaded::{SettingValue, Settings};
pub use parse::log_filter;
pub use setting::Setting;
