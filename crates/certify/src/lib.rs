//! Certificates: proofs of verified verdicts, and the code that checks them.
//!
//! A certificate is a set of abstract states (\[KVY11\], the book's page "Abstract store buffers") that contains
//! the initial ones, is closed under steps, and has no error among them. Every behaviour of the
//! program, with store buffers of any length, stays inside such a set; so nobody has to believe the
//! search that found it. [`check()`] looks at each state once and takes each of its steps: no search,
//! no reductions, no fused statements, no cleared registers.
//!
//! The steps are a second reading of the book, made without looking at the machine the engines use;
//! only the program representation is shared. Direction: a certificate that is accepted proves the
//! properties for the exact model. One that is rejected proves nothing: the program may still be right.
//!
//! The rooms:
//! - [`format`](mod@format): what a certificate's lines say; for whoever writes one.
//! - [`check`](mod@check): the pass over all states.
//! - [`rejected`]: what is wrong with a certificate, in words.
//! - `wellformed`: which states make sense for a program.
//! - `semantics`, `statement`, `buffer`: the steps of a state, the statements, the abstract buffers.
//! - `order`: when a state covers another.
//! - `property`: what is wrong with a state.
//! - `words`: states and steps for a reader.
//!
//! ```
//! use fencepost_frontends::by_extension;
//! use fencepost_ir::Diagnostics;
//!
//! let source = "shared int x; thread p { x = 1; } final forall x == 1;";
//! let frontend = by_extension("fp").expect("the language of the house");
//! let problem = &frontend.lower(source, &mut Diagnostics::new()).expect("no errors")[0];
//! let certificate = r#"{"certificate":1,"model":"tso","domain":"fd","k":1,"client":"","states":3}
//! [[0],[],[[0,[],0,[],[]]]]
//! [[0],[],[[1,[],0,[[0,1,0,0]],[]]]]
//! [[1],[],[[1,[],0,[],[]]]]
//! "#;
//! let certified = fencepost_certify::check(problem, &mut certificate.as_bytes());
//! assert_eq!(certified.expect("it is closed").states, 3);
//!
//! let forged = certificate.replace("[[1],", "[[2],");
//! let rejected = fencepost_certify::check(problem, &mut forged.as_bytes()).unwrap_err();
//! assert!(rejected.to_string().starts_with("line 4: violated: final forall `x == 1`"), "{rejected}");
//! ```

mod buffer;
pub mod check;
pub mod format;
mod order;
mod property;
pub mod rejected;
mod semantics;
mod statement;
mod wellformed;
mod words;

#[cfg(test)]
mod tests;

pub use check::{Certified, check};
pub use format::{CertState, CertThread, Domain, Element, Entry, Header, Model};
pub use property::{NotCovered, can_certify};
pub use rejected::{Reason, Rejected};
