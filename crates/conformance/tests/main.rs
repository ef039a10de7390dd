//! All conformance tests, in one binary. The header of each module states what it compares.

mod abstraction;
mod alternatives;
mod automata;
mod axiomatic;
mod budgets;
mod common;
mod control_points;
mod corpus;
mod differential;
mod engines;
mod fixpoint;
mod hang_cache;
mod infer;
mod litmus;
mod mutations;
mod operations;
mod oracles;
mod progress;
mod races;
mod rcu;
mod reference;
mod robust;
mod stateless;
mod translate;
mod values;
mod wait_shapes;
