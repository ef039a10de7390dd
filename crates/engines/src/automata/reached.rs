//! What a thread's buffer can hold where control is, put together from all states.

use super::{Symbolic, SymbolicState};
use fencepost_automata::{Language, Letter};
use fencepost_ir::{Pc, ThreadId};
use fencepost_models::symbolic::{STORE_LOAD, STORE_STORE};
use std::collections::BTreeMap;

/// What a thread's buffer can hold at a statement, whatever the rest of the state is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlPoint {
    /// The thread.
    pub thread: ThreadId,
    /// Where its control is: before this.
    pub pc: Pc,
    /// The contents, oldest store first, as a regular expression: `((x,1)(x,0))*`.
    pub contents: String,
    /// Whether there are only finitely many.
    pub is_finite: bool,
    /// The minimal automaton of the contents, for Graphviz.
    pub dot: String,
}

/// By thread and program counter: all contents of the thread's buffer met there.
#[derive(Debug, Default)]
pub(super) struct Reached {
    pub(super) contents: BTreeMap<(ThreadId, Pc), Language>,
}

impl Reached {
    pub(super) fn note(&mut self, machine: &Symbolic<'_>, state: &SymbolicState) {
        let mut languages = machine.model.0.languages();
        for thread in machine.shape.program().thread_ids() {
            let at = (thread, state.pcs[thread.index()]);
            let kept = self.contents.entry(at).or_insert(Language::EMPTY);
            *kept = languages.union(*kept, state.pending[thread.index()]);
        }
    }

    pub(super) fn control_points(&self, machine: &Symbolic<'_>) -> Vec<ControlPoint> {
        let program = machine.shape.program();
        let languages = machine.model.0.languages();
        let name = |letter: Letter| match letter.class {
            STORE_STORE => "store_store".to_string(),
            STORE_LOAD => "store_load".to_string(),
            loc => format!("({},{})", program.locations[loc as usize].name, letter.value),
        };
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
