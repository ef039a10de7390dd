//! The references themselves: what was found by hand, and two of them compared.
//!
//! - [`contexts`]: the reference with a bound on contexts.
//! - [`traces`]: the enumeration of traces.

mod contexts;
mod traces;
