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

/// What a thread's buffer can hold in one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contents {
    /// As a regular expression.
    pub expression: String,
    /// Whether there are only finitely many.
    pub is_finite: bool,
}

/// How a letter is shown.
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

/// By thread and program counter: all contents of the thread's buffer met there.
#[derive(Debug, Default)]
pub(super) struct Reached {
    contents: BTreeMap<(ThreadId, Pc), Language>,
    /// By thread, in one state: contents that are infinite for as many threads as anywhere.
    widest: Vec<Language>,
}

impl Reached {
    pub(super) fn note(&mut self, machine: &Symbolic<'_>, state: &SymbolicState) {
        let mut languages = machine.model.0.languages();
        for thread in machine.shape.program().thread_ids() {
            let at = (thread, state.pcs[thread.index()]);
            let kept = self.contents.entry(at).or_insert(Language::EMPTY);
            *kept = languages.union(*kept, state.pending[thread.index()]);
        }
        let endless = |contents: &[Language]| {
            contents.iter().filter(|contents| !languages.is_finite(**contents)).count()
        };
        if endless(&state.pending) > endless(&self.widest) {
            self.widest.clone_from(&state.pending);
        }
    }

    /// By thread: the contents in one state in which they are infinite for as many threads as in any.
    pub(super) fn widest(&self, machine: &Symbolic<'_>) -> Vec<Contents> {
        let languages = machine.model.0.languages();
        let name = |letter| name(machine, letter);
        let told = |language: &Language| Contents {
            expression: languages.regex(*language, &name),
            is_finite: languages.is_finite(*language),
        };
        self.widest.iter().map(told).collect()
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
