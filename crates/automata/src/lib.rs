//! Regular languages as minimal deterministic finite automata (DFAs), hash-consed.
//!
//! A [`Letter`] has a class and a value. A word is a sequence of letters. A [`Language`] is the
//! handle of a regular set of words in a store, [`Languages`]. Two handles of one store are equal
//! exactly when the languages are equal. Equality is therefore an integer comparison, and the
//! results of operations can be cached. The crate serves a search with exact symbolic store
//! buffers: one language represents all possible contents of a buffer. Source: the automata of
//! \[LW10\]. There, a letter is a location and a value, and a word is the contents of a store
//! buffer. Direction: exact; no operation adds or loses a word. The crate does not depend on
//! threads, stores or memory models.
//!
//! Most operations on DFAs build a nondeterministic automaton ([`nfa`]). It is trimmed,
//! determinised by the subset construction and minimised. Its states are then numbered
//! breadth-first, with transitions in the order of their letters ([`dfa`]). This canonical form is
//! unique for a language, so the store detects equal languages by comparing automata as values.
//! Rejected: automata with an explicit alphabet and a total transition function. Our alphabet grows
//! as values appear, and a buffer uses only a few letters at a time.
//!
//! Modules:
//! - [`dfa`]: the DFA in canonical form, and traversals of it.
//! - [`nfa`], [`minimise`]: the conversion of an NFA to the canonical DFA.
//! - [`operations`]: the constructions, as functions from DFAs to DFAs.
//! - [`languages`]: the store, its caches, and the operations on buffer contents.
//! - [`compose`]: concatenation, Kleene star, and operations by letter class.
//! - [`words`]: membership, shortest word, enumeration of words, finiteness, and single
//!   transitions.
//! - [`state_elimination`] with [`expression`], [`mod@dot`]: output as a regular expression and as
//!   a Graphviz graph.
//!
//! ```
//! use fencepost_automata::{Languages, Letter};
//!
//! let one = Letter { class: 0, value: 1 };
//! let zero = Letter { class: 0, value: 0 };
//! let mut languages = Languages::new();
//! let both = languages.word(&[one, zero]);
//! let any = languages.star(both);
//! let more = languages.concat(any, both);
//! assert!(languages.is_included(more, any) && !languages.is_included(any, more));
//! assert_eq!(languages.last_values(any, 0), [0]);
//! assert_eq!(languages.regex(any, &|letter| format!("(x,{})", letter.value)), "((x,1)(x,0))*");
//! ```

mod compose;
mod dfa;
mod dot;
mod expression;
mod languages;
mod minimise;
mod nfa;
mod operations;
mod state_elimination;
mod words;

pub use languages::Languages;

/// A letter of the alphabet. For store buffers: a location and the value stored to the location.
/// Markers have separate classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Letter {
    /// The class: for store buffers, the location or the kind of marker.
    pub class: u32,
    /// The value within the class.
    pub value: i64,
}

/// The handle of a language in a store.
///
/// Handles of one store are equal exactly when the languages are equal. A handle is valid only in
/// the store that created it, except [`Self::EMPTY`] and [`Self::EPSILON`], which are the same in
/// every store. Handles are ordered by creation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Language(u32);

impl Language {
    /// The empty language.
    pub const EMPTY: Self = Self(0);
    /// The language that contains only the empty word.
    pub const EPSILON: Self = Self(1);

    /// Returns the handle as a number, for storage in a packed state.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns the handle for a number from [`Self::number`].
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}
