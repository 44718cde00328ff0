//! Schemas as hosts see them: the subset that all of them take, true for whatever the service may answer.

mod check;
mod input;
mod mutants;
mod output;
