//! Regular languages as minimal deterministic automata, each kept once.
//!
//! A [`Letter`] has a class and a value; a word is a sequence of letters; a [`Language`] is a handle of a
//! regular set of words that lives in a store, [`Languages`]. Two handles of one store are equal exactly when
//! the languages are, so equality is the comparison of two numbers, and the result of an operation can be looked up.
//! What it is for: a search with exact symbolic store buffers, where one language stands for all that a buffer
//! may hold. Source: the automata of \[LW10\], whose letters are a location and a value and whose words are
//! contents of a store buffer. Direction: exact; no operation here adds or loses a word. The crate knows nothing of
//! threads, stores or memory models.
//!
//! How it works: an operation on automata builds a nondeterministic one ([`nfa`]), which is made
//! deterministic, minimal and free of states that lead nowhere. Its states are then numbered breadth-first with
//! letters in order ([`dfa`]). That form is unique for a language, so that the store finds equal languages by
//! comparing automata byte by byte.
//! Rejected: automata with an explicit alphabet and a total step function. Ours grows as values appear, and a
//! buffer uses a few of its letters at a time.
//!
//! The rooms:
//! - [`dfa`]: the automaton in its unique form, and what can be read off it.
//! - [`nfa`], [`minimise`]: from a nondeterministic automaton to that form.
//! - [`operations`]: what each operation builds, as functions from automata to automata.
//! - [`languages`]: the store with what it remembers, and the operations of buffers: letters come, go, are read.
//! - [`compose`]: languages one after another, and class by class.
//! - [`words`]: questions about words: membership, shortest, all up to a length, finiteness; and steps through
//!   the automaton, letter by letter.
//! - [`regex`] with [`expression`], [`show`]: languages for people, as an expression and as a drawing.
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
//! assert_eq!(languages.lasts(any, 0), [0]);
//! assert_eq!(languages.regex(any, &|letter| format!("(x,{})", letter.value)), "((x,1)(x,0))*");
//! ```

mod compose;
mod dfa;
mod expression;
mod languages;
mod minimise;
mod nfa;
mod operations;
mod regex;
mod show;
mod words;

pub use languages::Languages;

/// One letter: of store buffers, a location and the value stored there; markers have classes of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Letter {
    /// What the letter is about.
    pub class: u32,
    /// What it says.
    pub value: i32,
}

/// The handle of a language in a store. Handles of one store are equal exactly when the languages are.
///
/// A handle means something only to the store that gave it; [`Self::EMPTY`] and [`Self::EPSILON`] are the
/// same in all. Their order is that in which the store met the languages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Language(u32);

impl Language {
    /// No word at all.
    pub const EMPTY: Self = Self(0);
    /// The empty word, and no other.
    pub const EPSILON: Self = Self(1);

    /// The handle as a number, to be stored in a state.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The handle with a number that [`Self::number`] gave.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}
