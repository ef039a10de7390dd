//! Front ends: source languages that lower to the program representation.
//!
//! A [`Frontend`] lowers source text to [`Problem`]s. No input makes a front end panic. It reports
//! errors as [`Diagnostics`] and continues after the first error, so that one run reports all of
//! them. A front end also lists the fences of its language and inserts fences into a source text.
//!
//! - [`c`]: C programs (`.c` files).
//! - [`fences`]: the fences of a language.
//! - [`edit`]: text edits.
//! - [`orders`]: memory orders of C, C++ and Rust, and the fences that implement them.
//! - [`repair`]: inserts a placement into a source text and compiles the result.
//! - [`fp`]: the language of `.fp` files. The book describes it in the chapter "The language".
//! - [`litmus`]: litmus tests in herd's format (`.litmus` files).
//!
//! ```
//! use fencepost_ir::Diagnostics;
//! let frontend = fencepost_frontends::by_extension("fp").expect("`.fp` has a front end");
//! let mut diagnostics = Diagnostics::new();
//! let source = "shared int x; thread p { x = 1; } thread q { r = x; }";
//! let problems = frontend.lower(source, &mut diagnostics).expect("no errors");
//! assert_eq!(problems[0].program.threads.len(), 2);
//! ```

pub mod c;
pub mod edit;
pub mod fences;
pub mod fp;
mod lexing;
pub mod litmus;
mod order_sites;
pub mod orders;
pub mod repair;

pub use c::CFrontend;
pub use edit::{EditError, FileEdits, TextEdit};
pub use fences::FenceSyntax;
pub use fp::FpFrontend;
pub use litmus::LitmusFrontend;

use c::PreprocessOptions;
use fencepost_ir::{Diagnostics, Placement, Problem, Program, WrittenFences};

/// The front end of a source language.
pub trait Frontend: Sync {
    /// Returns the name of the language, for messages.
    fn name(&self) -> &'static str;

    /// Returns the file extensions of the language, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// Lowers a source text to problems: one for each requested client, otherwise one for each
    /// client of the text, otherwise a single problem with an empty name. Returns `None` exactly
    /// when it reported an error.
    fn lower_for(
        &self,
        source: &str,
        request: &Request<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Problem>>;

    /// Lowers a source text with the default [`Request`].
    fn lower(&self, source: &str, diagnostics: &mut Diagnostics) -> Option<Vec<Problem>> {
        self.lower_for(source, &Request::default(), diagnostics)
    }

    /// Returns the fences of the language, or of the dialect of a source. `request` has the options
    /// with which the source text is lowered.
    fn fences(&self, source: &str, request: &Request<'_>) -> FenceSyntax;

    /// Computes the edits that insert a placement into the files of a source: the main file, and
    /// the files of the user that it includes. [`edit::apply`] applies the edits of a file.
    /// `program` is the program lowered from the source text with `request`, with places.
    fn insert(
        &self,
        source: &str,
        request: &Request<'_>,
        program: &Program,
        placement: &Placement,
        written: WrittenFences,
    ) -> Result<Vec<FileEdits>, EditError>;

    /// Formats a source text in the standard style of the language. Returns `None` if the language
    /// has no standard style or the text has syntax errors.
    fn format(&self, _source: &str) -> Option<String> {
        None
    }
}

/// Options for lowering a source text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The name of the file, for messages. May be empty.
    pub name: &'a str,
    /// Macros and included files, for C.
    pub preprocessing: PreprocessOptions<'a>,
    /// Clients that replace the clients of the file.
    pub clients: Option<&'a [String]>,
    /// Whether to mark the places where a fence can be inserted ([`fencepost_ir::place`]).
    pub places: bool,
    /// Whether to mark the accesses whose memory order can be changed, too. Requires `places`.
    pub orders: bool,
    /// Whether the caller allows hangs. A property that forbids them gets a warning.
    pub allow_hangs: bool,
}

/// All front ends.
static FRONTENDS: [&dyn Frontend; 3] = [&FpFrontend, &LitmusFrontend, &CFrontend];

/// Returns the front end for a file extension (without the dot).
pub fn by_extension(extension: &str) -> Option<&'static dyn Frontend> {
    FRONTENDS.iter().copied().find(|f| f.extensions().contains(&extension))
}
