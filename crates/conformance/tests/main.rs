//! All conformance tests, as one binary. Each module says in its header what it compares with what.

mod abstraction;
mod automata;
mod axiomatic;
mod common;
mod corpus;
mod differential;
mod fixpoint;
mod infer;
mod judges;
mod litmus;
mod mutations;
mod operations;
mod reference;
mod robust;
mod stateless;
mod translate;
