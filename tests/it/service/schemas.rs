//! Schemas of arguments and answers: they use only keywords that every host supports, and accept every answer that the
//! contract allows.

mod input;
mod output;
