//! Stateless exploration.

mod agreement;
mod ask;
#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod draw;
mod edges;
mod preempted;
mod repeated;
