//! Languages that lower to the program representation.
//!
//! A [`Frontend`] turns source text into [`Problem`]s. It never panics, whatever it is given: all it
//! has to say about its input goes into [`Diagnostics`], and it goes on after the first mistake, so
//! that one run shows them all. It also says which fences its language has, and writes them into a text.
//!
//! - [`fences`]: what fences a language has; [`edit`]: text edits; [`repaired`]: a text with fences, compiled
//!   again.
//! - [`fp`]: the language of `.fp` files, described in the book's chapter "The language".
//! - [`litmus`]: litmus tests in herd's format, `.litmus` files.
//!
//! ```
//! use fencepost_ir::Diagnostics;
//! let frontend = fencepost_frontends::by_extension("fp").expect("the language of the house");
//! let mut diagnostics = Diagnostics::new();
//! let source = "shared int x; thread p { x = 1; } thread q { r = x; }";
//! let problems = frontend.lower(source, &mut diagnostics).expect("no errors");
//! assert_eq!(problems[0].program.threads.len(), 2);
//! ```

pub mod edit;
pub mod fences;
pub mod fp;
pub mod litmus;
pub mod repaired;

pub use edit::{EditError, TextEdit};
pub use fences::FenceSyntax;
pub use fp::FpFrontend;
pub use litmus::LitmusFrontend;

use fencepost_ir::{Diagnostics, Placement, Problem, Program, Written};

/// A language.
pub trait Frontend: Sync {
    /// The language's name, for messages.
    fn name(&self) -> &'static str;

    /// The file extensions it claims, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// The problems a source text describes: one for each client asked for, or else one for each of
    /// its own clients, or a single one with an empty name. `None` exactly when an error was
    /// reported.
    fn lower_for(
        &self,
        source: &str,
        request: &Request<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Problem>>;

    /// The same, with nothing special asked for.
    fn lower(&self, source: &str, diagnostics: &mut Diagnostics) -> Option<Vec<Problem>> {
        self.lower_for(source, &Request::default(), diagnostics)
    }

    /// The fences of the language, or of the dialect that a source text is written in.
    fn fences(&self, source: &str) -> FenceSyntax;

    /// The edits that write a placement into a source text, in its order; [`edit::apply`] carries them out.
    /// `program` is that of the text, with places.
    fn insert(
        &self,
        source: &str,
        program: &Program,
        placement: &Placement,
        written: Written,
    ) -> Result<Vec<TextEdit>, EditError>;

    /// A source text in the standard form of the language; none where the language has no such form, or the
    /// text cannot be read.
    fn format(&self, _source: &str) -> Option<String> {
        None
    }
}

/// What is asked of a front end besides the programs themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// Clients to use instead of those of the file.
    pub clients: Option<&'a [String]>,
    /// Mark the places where fences may be put ([`fencepost_ir::place`]).
    pub places: bool,
}

/// All front ends.
static FRONTENDS: [&dyn Frontend; 2] = [&FpFrontend, &LitmusFrontend];

/// The front end that claims an extension (without the dot).
pub fn by_extension(extension: &str) -> Option<&'static dyn Frontend> {
    FRONTENDS.iter().copied().find(|f| f.extensions().contains(&extension))
}
