//! Proof certificates of verified verdicts, and an independent checker of certificates.
//!
//! A certificate is a set of abstract states (\[KVY11\], the book's page "Abstract store buffers").
//! The set covers the initial states, is closed under steps, and contains no error state. It is an
//! inductive invariant: every behaviour of the program, with store buffers of any length, stays
//! inside the set. The search that found the set need not be trusted. [`check()`] visits each state
//! once and executes each of its steps. It uses no search, no reductions, no fused statements, and
//! it clears no registers.
//!
//! The steps are a second implementation of the book, written independently of the machine that the
//! engines use. Only the program representation is shared. Direction: an accepted certificate
//! proves the properties for the exact model. A rejected certificate proves nothing: the program
//! may still be correct.
//!
//! Modules:
//! - [`format`](mod@format): the lines of a certificate, for writers and the checker.
//! - [`check`](mod@check): the pass over all states.
//! - [`rejection`]: the reason and message of a rejected certificate.
//! - `wellformed`: the states that are valid for a program and an abstraction.
//! - `semantics`, `statement`, `buffer`: the steps of a state, the statements, the abstract
//!   buffers.
//! - `covering`: when an abstract state covers another.
//! - `property`: the properties of a state.
//! - `hang`: threads that wait forever.
//! - `describe`: states and steps as text for messages.
//! - `lines`: the lines of a file; `limits`: limits on time and memory.
//! - [`optimality`]: certificates that no cheaper placement of fences is sufficient.
//!
//! ```
//! use fencepost_frontends::by_extension;
//! use fencepost_ir::Diagnostics;
//!
//! let source = "shared int x; thread p { x = 1; } final forall x == 1;";
//! let frontend = by_extension("fp").expect("the .fp front end must exist");
//! let problem = &frontend.lower(source, &mut Diagnostics::new()).expect("the program must be valid")[0];
//! let certificate = r#"{"certificate":1,"model":"tso","domain":"fd","k":1,"client":"","states":3}
//! [[0],[],[[0,[],0,[],[]]]]
//! [[0],[],[[1,[],0,[[0,1,0,0]],[]]]]
//! [[1],[],[[1,[],0,[],[]]]]
//! "#;
//! let certified = fencepost_certify::check(problem, &mut certificate.as_bytes());
//! assert_eq!(certified.expect("the certificate must be accepted").states, 3);
//!
//! let forged = certificate.replace("[[1],", "[[2],");
//! let rejected = fencepost_certify::check(problem, &mut forged.as_bytes()).unwrap_err();
//! assert!(rejected.to_string().starts_with("line 4: violated: final forall `x == 1`"), "{rejected}");
//! ```

mod buffer;
pub mod check;
mod covering;
mod describe;
pub mod format;
mod hang;
mod limits;
mod lines;
pub mod optimality;
mod property;
pub mod rejection;
mod semantics;
mod statement;
mod wellformed;

#[cfg(test)]
mod tests;

pub use check::{Certified, check, check_within};
pub use format::{CertState, CertThread, Domain, Element, Entry, Header, Model};
pub use limits::Limits;
pub use optimality::{Optimal, OptimalityHeader, check_optimality, check_optimality_within};
pub use property::{UncertifiableProperty, check_certifiable};
pub use rejection::{Rejection, RejectionReason};
