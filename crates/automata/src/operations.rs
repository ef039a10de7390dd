//! The constructions of all operations, as functions from DFAs to DFAs.
//!
//! Most constructions copy the DFA once or twice into an NFA, change some transitions, and call
//! [`Nfa::into_minimal_dfa`]. Where the result is known to be deterministic and minimal, this call
//! is skipped, and a comment gives the reason. With two copies, a run starts in the first copy (the
//! part of a word before some point) and moves to the second (the part after that point).

use crate::Letter;
use crate::dfa::{Builder, Dfa};
use crate::nfa::Nfa;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the language of one word. The construction is deterministic and minimal: one state for
/// each suffix of the word.
pub(crate) fn word(word: &[Letter]) -> Dfa {
    let mut builder = Builder::new();
    for (letter, target) in word.iter().zip(1..) {
        builder.add_transition(*letter, target);
        builder.finish_state(false);
    }
    builder.finish_state(true);
    builder.finish()
}

/// Returns the language of the given words.
pub(crate) fn words(words: &[Vec<Letter>]) -> Dfa {
    let mut nfa = Nfa::default();
    let end = nfa.add_state(true);
    for word in words {
        let start = nfa.add_state(false);
        nfa.add_start(start);
        nfa.add_path(start, word, end);
    }
    nfa.into_minimal_dfa()
}

/// Returns `L . a`.
pub(crate) fn append(dfa: &Dfa, letter: Letter) -> Dfa {
    if dfa.is_empty() {
        return Dfa::single(false);
    }
    let clash = |state| dfa.accepts(state) && dfa.step(state, letter).is_some();
    if dfa.states().any(clash) {
        return concat(dfa, &word(&[letter]));
    }
    // The result is deterministic. It is minimal because `K . a` = `M . a` only if `K` = `M`.
    let end = dfa.len() as u32;
    let mut builder = Builder::new();
    for state in dfa.states() {
        let transitions = dfa.transitions(state);
        let split = match dfa.accepts(state) {
            true => transitions.partition_point(|(other, _)| *other < letter),
            false => transitions.len(),
        };
        transitions[..split]
            .iter()
            .for_each(|(letter, target)| builder.add_transition(*letter, *target));
        if dfa.accepts(state) {
            builder.add_transition(letter, end);
        }
        transitions[split..]
            .iter()
            .for_each(|(letter, target)| builder.add_transition(*letter, *target));
        builder.finish_state(false);
    }
    builder.finish_state(true);
    builder.finish().rooted_at(0)
}

/// Returns the concatenation `A . B`.
pub(crate) fn concat(a: &Dfa, b: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    let (head, tail) = (nfa.add_copy(a, false), nfa.add_copy(b, true));
    nfa.add_start(head);
    for state in a.states().filter(|state| a.accepts(*state)) {
        nfa.add_epsilon_transition(head + state, tail);
    }
    nfa.into_minimal_dfa()
}

/// Returns the Kleene star `L*`.
pub(crate) fn star(dfa: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    let hub = nfa.add_state(true);
    let base = nfa.add_copy(dfa, false);
    nfa.add_start(hub);
    nfa.add_epsilon_transition(hub, base);
    for state in dfa.states().filter(|state| dfa.accepts(*state)) {
        nfa.add_epsilon_transition(base + state, hub);
    }
    nfa.into_minimal_dfa()
}

/// Returns the union.
pub(crate) fn union(a: &Dfa, b: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    for dfa in [a, b] {
        let base = nfa.add_copy(dfa, true);
        nfa.add_start(base);
    }
    nfa.into_minimal_dfa()
}

/// Returns the intersection, by the product construction.
pub(crate) fn intersection(a: &Dfa, b: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let start = nfa.add_state(a.accepts(0) && b.accepts(0));
    nfa.add_start(start);
    numbers.insert((0, 0), start);
    let mut stack = vec![(0, 0)];
    while let Some((p, q)) = stack.pop() {
        let from = numbers[&(p, q)];
        for &(letter, to_p) in a.transitions(p) {
            let Some(to_q) = b.step(q, letter) else { continue };
            let to = *numbers.entry((to_p, to_q)).or_insert_with(|| {
                stack.push((to_p, to_q));
                nfa.add_state(a.accepts(to_p) && b.accepts(to_q))
            });
            nfa.add_transition(from, letter, to);
        }
    }
    nfa.into_minimal_dfa()
}

/// Returns whether `a` is a subset of `b`. All states are live, so a transition that only `a` has
/// leads to a word that only `a` has.
pub(crate) fn is_included(a: &Dfa, b: &Dfa) -> bool {
    if a.is_empty() {
        return true;
    }
    let mut seen = FxHashSet::from_iter([(0, 0)]);
    let mut stack = vec![(0, 0)];
    while let Some((p, q)) = stack.pop() {
        if a.accepts(p) && !b.accepts(q) {
            return false;
        }
        for &(letter, to_p) in a.transitions(p) {
            let Some(to_q) = b.step(q, letter) else { return false };
            if seen.insert((to_p, to_q)) {
                stack.push((to_p, to_q));
            }
        }
    }
    true
}

/// Returns the words whose last letter of `letter.class` is `letter`.
pub(crate) fn with_last(dfa: &Dfa, letter: Letter) -> Dfa {
    // Second copy: the last letter of the class so far is `letter`.
    let mut nfa = Nfa::default();
    let (other, same) = (nfa.add_states_of(dfa), nfa.add_states_of(dfa));
    nfa.add_start(other);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.set_accepting(same + state);
        }
        for &(read, target) in dfa.transitions(state) {
            for from in [other, same] {
                let to = if read == letter {
                    same
                } else if read.class == letter.class {
                    other
                } else {
                    from
                };
                nfa.add_transition(from + state, read, to + target);
            }
        }
    }
    nfa.into_minimal_dfa()
}

/// Returns the words without letters of a class.
pub(crate) fn without(dfa: &Dfa, class: u32) -> Dfa {
    let mut nfa = Nfa::default();
    let base = nfa.add_states_of(dfa);
    nfa.add_start(base);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.set_accepting(base + state);
        }
        for (letter, target) in dfa.transitions(state).iter().filter(|(l, _)| l.class != class) {
            nfa.add_transition(base + state, *letter, base + *target);
        }
    }
    nfa.into_minimal_dfa()
}

/// Returns `u v` for each word `u a v`, where `u` has no letter of the class of `a` or of the class
/// `barrier`.
pub(crate) fn remove_first(dfa: &Dfa, letter: Letter, barrier: u32) -> Dfa {
    let mut nfa = Nfa::default();
    let before = nfa.add_states_of(dfa);
    let after = nfa.add_copy(dfa, true);
    nfa.add_start(before);
    for state in dfa.states() {
        for &(read, target) in dfa.transitions(state) {
            if read == letter {
                nfa.add_epsilon_transition(before + state, after + target);
            } else if read.class != letter.class && read.class != barrier {
                nfa.add_transition(before + state, read, before + target);
            }
        }
    }
    nfa.into_minimal_dfa()
}

/// Removes from each word its first letters of the class of `letter`, any number of them from none
/// on, if they are all equal to `letter` and no letter of the class `barrier` is before them.
pub(crate) fn remove_leading(dfa: &Dfa, letter: Letter, barrier: u32) -> Dfa {
    // Second copy: no further letter is removed.
    let mut nfa = Nfa::default();
    let before = nfa.add_states_of(dfa);
    let after = nfa.add_copy(dfa, true);
    nfa.add_start(before);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.set_accepting(before + state);
        }
        for &(read, target) in dfa.transitions(state) {
            if read == letter {
                nfa.add_epsilon_transition(before + state, before + target);
            }
            let stops = read.class == letter.class || read.class == barrier;
            let to = if stops { after } else { before };
            nfa.add_transition(before + state, read, to + target);
        }
    }
    nfa.into_minimal_dfa()
}

/// Removes from each word its leading letters of the given classes.
pub(crate) fn strip(dfa: &Dfa, classes: &[u32]) -> Dfa {
    let mut nfa = Nfa::default();
    let before = nfa.add_states_of(dfa);
    let after = nfa.add_copy(dfa, true);
    nfa.add_start(before);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.set_accepting(before + state);
        }
        for &(read, target) in dfa.transitions(state) {
            match classes.contains(&read.class) {
                true => nfa.add_epsilon_transition(before + state, before + target),
                false => nfa.add_transition(before + state, read, after + target),
            }
        }
    }
    nfa.into_minimal_dfa()
}

/// Removes from each word all letters of other classes.
pub(crate) fn project(dfa: &Dfa, class: u32) -> Dfa {
    let mut nfa = Nfa::default();
    let base = nfa.add_states_of(dfa);
    nfa.add_start(base);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.set_accepting(base + state);
        }
        for &(read, target) in dfa.transitions(state) {
            match read.class == class {
                true => nfa.add_transition(base + state, read, base + target),
                false => nfa.add_epsilon_transition(base + state, base + target),
            }
        }
    }
    nfa.into_minimal_dfa()
}

/// Removes from each word all letters of a class except the last.
pub(crate) fn last_only(dfa: &Dfa, class: u32) -> Dfa {
    // Second copy: the last letter of the class was read, or the word has none.
    let mut nfa = Nfa::default();
    let (before, after) = (nfa.add_states_of(dfa), nfa.add_states_of(dfa));
    nfa.add_start(before);
    nfa.add_start(after);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.set_accepting(after + state);
        }
        for &(read, target) in dfa.transitions(state) {
            if read.class == class {
                nfa.add_epsilon_transition(before + state, before + target);
                nfa.add_transition(before + state, read, after + target);
            } else {
                nfa.add_transition(before + state, read, before + target);
                nfa.add_transition(after + state, read, after + target);
            }
        }
    }
    nfa.into_minimal_dfa()
}

/// Appends the marker to each word that, without letters of the class `ignoring`, is not empty and
/// does not end with the marker.
pub(crate) fn mark(dfa: &Dfa, marker: Letter, ignoring: Option<u32>) -> Dfa {
    // Second copy: the word so far needs a marker.
    let mut nfa = Nfa::default();
    let (marked, unmarked) = (nfa.add_states_of(dfa), nfa.add_states_of(dfa));
    let end = nfa.add_state(true);
    nfa.add_start(marked);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.set_accepting(marked + state);
            nfa.add_transition(unmarked + state, marker, end);
        }
        for &(read, target) in dfa.transitions(state) {
            for from in [marked, unmarked] {
                let to = if Some(read.class) == ignoring {
                    from
                } else if read == marker {
                    marked
                } else {
                    unmarked
                };
                nfa.add_transition(from + state, read, to + target);
            }
        }
    }
    nfa.into_minimal_dfa()
}
