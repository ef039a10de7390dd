//! The buffer contents at each program counter, over all states.

use super::{Symbolic, SymbolicState};
use fencepost_automata::{Language, Letter};
use fencepost_ir::{Pc, ThreadId};
use fencepost_models::symbolic::{STORE_LOAD, STORE_STORE};
use std::collections::BTreeMap;

/// The contents of the buffer of a thread at a program counter, over all states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlPoint {
    /// The thread.
    pub thread: ThreadId,
    /// The program counter: the next statement of the thread.
    pub pc: Pc,
    /// The contents, oldest store first, as a regular expression: `((x,1)(x,0))*`.
    pub contents: String,
    /// Whether the set of contents is finite.
    pub is_finite: bool,
    /// The minimal automaton of the contents, in Graphviz format.
    pub dot: String,
}

/// The contents of the buffer of a thread in one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contents {
    /// The contents as a regular expression.
    pub expression: String,
    /// Whether the set of contents is finite.
    pub is_finite: bool,
}

/// Formats a letter.
fn name(machine: &Symbolic<'_>, letter: Letter) -> String {
    match letter.class {
        STORE_STORE => "store_store".into(),
        STORE_LOAD => "store_load".into(),
        loc => {
            let location = &machine.shape.program().locations[loc as usize];
            format!("({},{})", location.name, letter.value)
        }
    }
}

/// The contents reached by the search.
#[derive(Debug, Default)]
pub(super) struct ReachedContents {
    contents: BTreeMap<(ThreadId, Pc), Language>,
    /// By thread: the contents in one state with the largest number of infinite contents.
    widest: Vec<Language>,
}

impl ReachedContents {
    pub(super) fn record(&mut self, machine: &Symbolic<'_>, state: &SymbolicState) {
        let mut languages = machine.model.0.languages();
        for thread in machine.shape.program().thread_ids() {
            let at = (thread, state.pcs[thread.index()]);
            let contents = self.contents.entry(at).or_insert(Language::EMPTY);
            *contents = languages.union(*contents, state.pending[thread.index()]);
        }
        let infinite_count = |contents: &[Language]| {
            contents.iter().filter(|contents| !languages.is_finite(**contents)).count()
        };
        if infinite_count(&state.pending) > infinite_count(&self.widest) {
            self.widest.clone_from(&state.pending);
        }
    }

    /// By thread: the contents in one state with the largest number of infinite contents.
    pub(super) fn widest(&self, machine: &Symbolic<'_>) -> Vec<Contents> {
        let languages = machine.model.0.languages();
        let name = |letter| name(machine, letter);
        let describe = |language: &Language| Contents {
            expression: languages.regex(*language, &name),
            is_finite: languages.is_finite(*language),
        };
        self.widest.iter().map(describe).collect()
    }

    pub(super) fn control_points(&self, machine: &Symbolic<'_>) -> Vec<ControlPoint> {
        let program = machine.shape.program();
        let languages = machine.model.0.languages();
        let name = |letter| name(machine, letter);
        let point = |((thread, pc), language): (&(ThreadId, Pc), &Language)| {
            let title = format!("{} at {}", program.thread(*thread).name, pc.0);
            ControlPoint {
                thread: *thread,
                pc: *pc,
                contents: languages.regex(*language, &name),
                is_finite: languages.is_finite(*language),
                dot: languages.dot(*language, &title, &name),
            }
        };
        self.contents.iter().map(point).collect()
    }
}
