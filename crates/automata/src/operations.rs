//! What each operation builds, as functions from automata to automata.
//!
//! Most copy the automaton once or twice and change a few moves; [`Nfa::finish`] does the rest. Where a
//! result is known to be deterministic and minimal, that is skipped, and the comment says why it is.
//! With two copies, the first is the part of a word before something happened and the second the part after it.

use crate::Letter;
use crate::dfa::{Builder, Dfa};
use crate::nfa::Nfa;
use rustc_hash::{FxHashMap, FxHashSet};

/// This word and no other. Deterministic and minimal as it stands: one state for each rest of the word.
pub(crate) fn word(word: &[Letter]) -> Dfa {
    let mut builder = Builder::new();
    for (letter, target) in word.iter().zip(1..) {
        builder.step(*letter, target);
        builder.close(false);
    }
    builder.close(true);
    builder.finish()
}

/// These words and no others.
pub(crate) fn words(words: &[Vec<Letter>]) -> Dfa {
    let mut nfa = Nfa::default();
    let end = nfa.state(true);
    for word in words {
        let start = nfa.state(false);
        nfa.start(start);
        nfa.path(start, word, end);
    }
    nfa.finish()
}

/// `L . a`.
pub(crate) fn append(dfa: &Dfa, letter: Letter) -> Dfa {
    if dfa.is_empty() {
        return Dfa::single(false);
    }
    let clash = |state| dfa.accepts(state) && dfa.step(state, letter).is_some();
    if dfa.states().any(clash) {
        return concat(dfa, &word(&[letter]));
    }
    // Deterministic as it stands; and minimal, since `K . a` = `M . a` only if `K` = `M`.
    let end = dfa.len() as u32;
    let mut builder = Builder::new();
    for state in dfa.states() {
        let moves = dfa.moves(state);
        let split = match dfa.accepts(state) {
            true => moves.partition_point(|(other, _)| *other < letter),
            false => moves.len(),
        };
        moves[..split].iter().for_each(|(letter, target)| builder.step(*letter, *target));
        if dfa.accepts(state) {
            builder.step(letter, end);
        }
        moves[split..].iter().for_each(|(letter, target)| builder.step(*letter, *target));
        builder.close(false);
    }
    builder.close(true);
    builder.finish().restart(0)
}

/// `A . B`.
pub(crate) fn concat(a: &Dfa, b: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    let (head, tail) = (nfa.copy(a, false), nfa.copy(b, true));
    nfa.start(head);
    for state in a.states().filter(|state| a.accepts(*state)) {
        nfa.jump(head + state, tail);
    }
    nfa.finish()
}

/// `L*`.
pub(crate) fn star(dfa: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    let hub = nfa.state(true);
    let base = nfa.copy(dfa, false);
    nfa.start(hub);
    nfa.jump(hub, base);
    for state in dfa.states().filter(|state| dfa.accepts(*state)) {
        nfa.jump(base + state, hub);
    }
    nfa.finish()
}

/// The words of both and of either.
pub(crate) fn union(a: &Dfa, b: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    for dfa in [a, b] {
        let base = nfa.copy(dfa, true);
        nfa.start(base);
    }
    nfa.finish()
}

/// The words that both have.
pub(crate) fn intersection(a: &Dfa, b: &Dfa) -> Dfa {
    let mut nfa = Nfa::default();
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let start = nfa.state(a.accepts(0) && b.accepts(0));
    nfa.start(start);
    numbers.insert((0, 0), start);
    let mut stack = vec![(0, 0)];
    while let Some((p, q)) = stack.pop() {
        let from = numbers[&(p, q)];
        for &(letter, to_p) in a.moves(p) {
            let Some(to_q) = b.step(q, letter) else { continue };
            let to = *numbers.entry((to_p, to_q)).or_insert_with(|| {
                stack.push((to_p, to_q));
                nfa.state(a.accepts(to_p) && b.accepts(to_q))
            });
            nfa.step(from, letter, to);
        }
    }
    nfa.finish()
}

/// Whether every word of the first is one of the second. All states being live, a move that only the
/// first has leads to a word that only the first has.
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
        for &(letter, to_p) in a.moves(p) {
            let Some(to_q) = b.step(q, letter) else { return false };
            if seen.insert((to_p, to_q)) {
                stack.push((to_p, to_q));
            }
        }
    }
    true
}

/// Words whose last letter of its class is this one.
pub(crate) fn with_last(dfa: &Dfa, letter: Letter) -> Dfa {
    // The second copy: the last letter of the class so far is the one asked for.
    let mut nfa = Nfa::default();
    let (other, same) = (nfa.states_of(dfa), nfa.states_of(dfa));
    nfa.start(other);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.accept(same + state);
        }
        for &(read, target) in dfa.moves(state) {
            for from in [other, same] {
                let to = if read == letter {
                    same
                } else if read.class == letter.class {
                    other
                } else {
                    from
                };
                nfa.step(from + state, read, to + target);
            }
        }
    }
    nfa.finish()
}

/// Words with no letter of a class.
pub(crate) fn without(dfa: &Dfa, class: u32) -> Dfa {
    let mut nfa = Nfa::default();
    let base = nfa.states_of(dfa);
    nfa.start(base);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.accept(base + state);
        }
        for (letter, target) in dfa.moves(state).iter().filter(|(l, _)| l.class != class) {
            nfa.step(base + state, *letter, base + *target);
        }
    }
    nfa.finish()
}

/// `u v` for each `u a v`, where `u` has no letter of the class of `a` and none of the barrier's.
pub(crate) fn remove_first(dfa: &Dfa, letter: Letter, barrier: u32) -> Dfa {
    let mut nfa = Nfa::default();
    let before = nfa.states_of(dfa);
    let after = nfa.copy(dfa, true);
    nfa.start(before);
    for state in dfa.states() {
        for &(read, target) in dfa.moves(state) {
            if read == letter {
                nfa.jump(before + state, after + target);
            } else if read.class != letter.class && read.class != barrier {
                nfa.step(before + state, read, before + target);
            }
        }
    }
    nfa.finish()
}

/// Each word without its leading letters of these classes.
pub(crate) fn strip(dfa: &Dfa, classes: &[u32]) -> Dfa {
    let mut nfa = Nfa::default();
    let before = nfa.states_of(dfa);
    let after = nfa.copy(dfa, true);
    nfa.start(before);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.accept(before + state);
        }
        for &(read, target) in dfa.moves(state) {
            match classes.contains(&read.class) {
                true => nfa.jump(before + state, before + target),
                false => nfa.step(before + state, read, after + target),
            }
        }
    }
    nfa.finish()
}

/// Each word with only its letters of a class.
pub(crate) fn project(dfa: &Dfa, class: u32) -> Dfa {
    let mut nfa = Nfa::default();
    let base = nfa.states_of(dfa);
    nfa.start(base);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.accept(base + state);
        }
        for &(read, target) in dfa.moves(state) {
            match read.class == class {
                true => nfa.step(base + state, read, base + target),
                false => nfa.jump(base + state, base + target),
            }
        }
    }
    nfa.finish()
}

/// Each word without its letters of a class but the last of them.
pub(crate) fn last_only(dfa: &Dfa, class: u32) -> Dfa {
    // The second copy: the last letter of the class was read, or the word has none.
    let mut nfa = Nfa::default();
    let (before, after) = (nfa.states_of(dfa), nfa.states_of(dfa));
    nfa.start(before);
    nfa.start(after);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.accept(after + state);
        }
        for &(read, target) in dfa.moves(state) {
            if read.class == class {
                nfa.jump(before + state, before + target);
                nfa.step(before + state, read, after + target);
            } else {
                nfa.step(before + state, read, before + target);
                nfa.step(after + state, read, after + target);
            }
        }
    }
    nfa.finish()
}

/// The marker after each word that, without the letters to ignore, is not empty and does not end in the marker.
pub(crate) fn mark(dfa: &Dfa, marker: Letter, ignoring: Option<u32>) -> Dfa {
    // The second copy: the word so far wants a marker.
    let mut nfa = Nfa::default();
    let (done, wanting) = (nfa.states_of(dfa), nfa.states_of(dfa));
    let end = nfa.state(true);
    nfa.start(done);
    for state in dfa.states() {
        if dfa.accepts(state) {
            nfa.accept(done + state);
            nfa.step(wanting + state, marker, end);
        }
        for &(read, target) in dfa.moves(state) {
            for from in [done, wanting] {
                let to = if Some(read.class) == ignoring {
                    from
                } else if read == marker {
                    done
                } else {
                    wanting
                };
                nfa.step(from + state, read, to + target);
            }
        }
    }
    nfa.finish()
}
