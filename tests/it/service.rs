//! The description of the service: schemas, request layout, contract.

mod contract;
mod schemas;
mod views;
mod wire;
