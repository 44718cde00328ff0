//! The description of the Test Automation Service: its operations, their arguments, and the layout of their requests.
//!
//! Every other layer reads this description. This layer sends no requests.

/// Defines the builder methods of a description, whose parameters are the values of fields.
macro_rules! setters {
    ($($method:ident($($parameter:ident: $type:ty)?) sets $($field:ident).+ = $value:expr;)+) => {
        $(#[doc = concat!("Sets `", stringify!($($field).+), "`.")]
        #[must_use]
        pub const fn $method(mut self $(, $parameter: $type)?) -> Self {
            self.$($field).+ = $value;
            self
        })+
    };
}

pub mod api;
pub mod arguments;
pub mod catalog;
pub mod lenient;
pub mod operation;
pub mod record_kind;
pub mod request;
pub mod rule;
pub mod schema;
pub mod tool;
